/* The hot path of the Python binding: one call of the library, and the object that holds what it gave.
 *
 * All else goes through cffi, in mcp_select/. Through cffi and Python alone a call costs twice as much as the whole of
 * the library's work on a short result. This module, `mcp_select._hot`, stands in the same shared library as
 * `mcp_select._native`, over one copy of the Rust code; mcp_select/_raw.py loads it.
 *
 * A native selection is a buffer that one thread uses at a time. An object of Python takes one out of the pool for its
 * lifetime and gives it back, so that the library allocates nothing once the pool is warm. */

#include <Python.h>
#include <stddef.h>
#include <structmember.h>

#include "mcp_select.h"

/* So many wait for the next call; what does not fit is freed. */
#define POOL_SIZE 64
/* A selection that has seen a larger result is freed too: its buffers are as large. */
#define KEEP_BYTES ((size_t)1 << 20)

/* The GIL guards the pool; without one, a mutex. */
#ifdef Py_GIL_DISABLED
static PyMutex pool_mutex;
#define LOCK_POOL() PyMutex_Lock(&pool_mutex)
#define UNLOCK_POOL() PyMutex_Unlock(&pool_mutex)
#else
#define LOCK_POOL() ((void)0)
#define UNLOCK_POOL() ((void)0)
#endif

static mcp_select_selection *pool[POOL_SIZE];
static size_t waiting;

/* Returns NULL when there is no memory, with no exception set. */
static mcp_select_selection *take(void)
{
    mcp_select_selection *selection = NULL;
    LOCK_POOL();
    if (waiting > 0)
        selection = pool[--waiting];
    UNLOCK_POOL();
    if (selection == NULL)
        (void)mcp_select_selection_new(&selection);
    return selection;
}

static void give_back(mcp_select_selection *selection, size_t result_len)
{
    LOCK_POOL();
    if (result_len <= KEEP_BYTES && waiting < POOL_SIZE) {
        pool[waiting++] = selection;
        selection = NULL;
    }
    UNLOCK_POOL();
    mcp_select_selection_free(selection);
}

/* What `mcp_select.Selection` is made on. Nothing changes in it once it is made. */
typedef struct {
    PyObject_HEAD
    mcp_select_selection *native;
    size_t result_len;
    int status;
    PyObject *json;   /* bytes */
    PyObject *source; /* what the caller handed in, while nothing changed; or NULL */
} Selection;

static PyObject *refuse_to_make(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    (void)type, (void)arguments, (void)named;
    PyErr_SetString(PyExc_TypeError, "selections are made by Engine.select");
    return NULL;
}

/* Calls `refuse(status, address of the error)`, which raises. */
static PyObject *refused(PyObject *refuse, int32_t status, mcp_select_error *error)
{
    PyObject *address = PyLong_FromVoidPtr(error);
    if (address == NULL) {
        mcp_select_error_free(error);
        return NULL;
    }
    return PyObject_CallFunction(refuse, "iN", (int)status, address);
}

static PyObject *call(PyObject *type, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5 || !PyBytes_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "expected the addresses of engine and request, bytes, a source and a function");
        return NULL;
    }
    const mcp_select_engine *engine = PyLong_AsVoidPtr(arguments[0]);
    const mcp_select_request *request = PyLong_AsVoidPtr(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *json = arguments[2], *source = arguments[3];
    const uint8_t *result = (const uint8_t *)PyBytes_AsString(json);
    size_t result_len = (size_t)PyBytes_Size(json);

    mcp_select_selection *native = take();
    if (native == NULL)
        return PyErr_NoMemory();
    mcp_select_error *error = NULL;
    int32_t status;
    Py_BEGIN_ALLOW_THREADS
    status = mcp_select_result(engine, request, result, result_len, native, &error);
    Py_END_ALLOW_THREADS
    if (status < 0) {
        give_back(native, result_len);
        return refused(arguments[4], status, error);
    }

    if (status == MCP_SELECT_CHANGED) {
        size_t length;
        const uint8_t *start = mcp_select_selection_json(native, &length);
        json = PyBytes_FromStringAndSize((const char *)start, (Py_ssize_t)length);
        source = NULL;
    } else {
        Py_INCREF(json);
        Py_INCREF(source);
    }
    Selection *made = json == NULL ? NULL : (Selection *)PyType_GenericAlloc((PyTypeObject *)type, 0);
    if (made == NULL) {
        give_back(native, result_len);
        Py_XDECREF(json);
        Py_XDECREF(source);
        return NULL;
    }
    made->native = native;
    made->result_len = result_len;
    made->status = status;
    made->json = json;
    made->source = source;
    return (PyObject *)made;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Selection *)self)->source);
    return 0;
}

static int clear(PyObject *self)
{
    Py_CLEAR(((Selection *)self)->source);
    return 0;
}

static void deallocate(PyObject *self)
{
    Selection *selection = (Selection *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (selection->native != NULL)
        give_back(selection->native, selection->result_len);
    Py_XDECREF(selection->json);
    Py_XDECREF(selection->source);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *address_of(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromVoidPtr(((Selection *)self)->native);
}

static PyMemberDef members[] = {
    {"json", T_OBJECT_EX, offsetof(Selection, json), READONLY,
     "The result as the audience sees it, as JSON: the input's own bytes when nothing changed.\n\n"
     "When `outcome` is not `selected`, these are the input's bytes for the protocol driver, to be shown to nobody."},
    {"_status", T_INT, offsetof(Selection, status), READONLY, NULL},
    {"_source", T_OBJECT, offsetof(Selection, source), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"_address", address_of, NULL, "The address of the native selection, for cffi.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"_call", (PyCFunction)(void (*)(void))call, METH_FASTCALL | METH_CLASS,
     "_call(engine, request, result, source, refuse): one call of the library; `refuse(status, error)` raises.\n\n"
     "Engine, request and error are addresses; the caller keeps the first two alive, `refuse` owns the third."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, refuse_to_make},
    {Py_tp_dealloc, deallocate},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_members, members},
    {Py_tp_getset, getters},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec selection_type = {
    .name = "mcp_select._hot.Selection",
    .basicsize = sizeof(Selection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

static PyObject *empty_pool(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    size_t freed = 0;
    for (;;) {
        LOCK_POOL();
        mcp_select_selection *selection = waiting > 0 ? pool[--waiting] : NULL;
        UNLOCK_POOL();
        if (selection == NULL)
            return PyLong_FromSize_t(freed);
        mcp_select_selection_free(selection);
        freed++;
    }
}

static PyMethodDef functions[] = {
    {"empty_pool", empty_pool, METH_NOARGS, "Free the native selections that wait for the next call; return how many."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &selection_type, NULL);
    int status = type == NULL ? -1 : PyModule_AddObjectRef(module, "Selection", type);
    Py_XDECREF(type);
    return status != 0 ? status : PyModule_AddIntConstant(module, "POOL_SIZE", POOL_SIZE);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, fill},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "mcp_select._hot",
    .m_doc = "The hot path: see hot.c.",
    .m_methods = functions,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__hot(void)
{
    return PyModuleDef_Init(&definition);
}
