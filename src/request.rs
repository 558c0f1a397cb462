//! A request: what the host knows before a result comes. Built once for each (server, tool, audience), then shared.

use crate::engine::Snapshot;
use crate::error::{Error, Status};
use crate::policy::resolve_alias;
use crate::result::scan::Input;
use crate::table::route::{Definition, Route, revision};
use crate::table::{Table, TableError};
use arc_swap::{ArcSwapOption, Guard};
use std::sync::{Arc, Weak};

/// Server, tool, audience, and what else is known of them. It remembers its decision table for up to two policies, so
/// that a call with it looks nothing up.
///
/// Setting something takes `&mut self`; a shared request is only read. Threads: `Send` and `Sync`.
///
/// ```
/// use mcp_select::Request;
/// let mut request = Request::new("github", "list_issues", "model");
/// request.set_revision("2026-07-28")?;
/// request.set_label("ring", "canary");
/// let for_programs = request.for_audience("code");
/// # Ok::<(), mcp_select::Error>(())
/// ```
#[derive(Debug)]
pub struct Request {
    pub(crate) route: Arc<Route>,
    slots: [ArcSwapOption<Slot>; 2],
}

/// The table of a request under one policy. The policy may be gone: then only its empty shell is kept.
#[derive(Debug)]
pub(crate) struct Slot {
    of: Weak<Snapshot>,
    pub route: Arc<Route>,
    pub table: Table,
}

impl Request {
    /// `server` is the host's own connection id, never the name a server gives itself (C-74). `assistant` is `model` and
    /// `programmatic` is `code`. Whether the audience exists is seen when a policy is applied.
    pub fn new(server: &str, tool: &str, audience: &str) -> Request {
        let audience = resolve_alias(audience).into();
        Request::of(Route { server: server.into(), tool: tool.into(), audience, ..Route::default() })
    }

    fn of(route: Route) -> Request {
        Request { route: Arc::new(route), slots: Default::default() }
    }

    /// The same for another audience, or to be edited while the first stays in use.
    pub fn for_audience(&self, audience: &str) -> Request {
        Request::of(Route { audience: resolve_alias(audience).into(), ..(*self.route).clone() })
    }

    fn edit(&mut self) -> &mut Route {
        self.slots = Default::default();
        Arc::make_mut(&mut self.route)
    }

    /// The protocol revision that was agreed, `YYYY-MM-DD`; a later date than this library knows is accepted.
    ///
    /// # Errors
    /// [`Status::ErrRevision`] when it is no such date; nothing is set then.
    pub fn set_revision(&mut self, date: &str) -> Result<(), Error> {
        let Some(number) = revision(date) else {
            let shown: String = date.chars().take(40).collect();
            let message = format!("bad-revision: {shown:?} is no protocol revision; write it as YYYY-MM-DD");
            return Err(Error::new(Status::ErrRevision, message));
        };
        self.edit().revision = Some(number);
        Ok(())
    }

    /// The tool's object out of `tools/list` as JSON; `None` takes it away. Its `outputSchema` and `_meta.ui` are read.
    ///
    /// # Errors
    /// [`Status::ErrTool`] when it is no JSON object; nothing is set then.
    pub fn set_tool_definition(&mut self, tool: Option<&[u8]>) -> Result<(), Error> {
        let definition = match tool {
            Some(tool) => Some(Definition::read(tool).ok_or_else(|| {
                let message = "bad-tool-definition: the tool definition is no JSON object; hand over the tool's object out of `tools/list`";
                Error::new(Status::ErrTool, message.into())
            })?),
            None => None,
        };
        self.edit().definition = definition;
        Ok(())
    }

    /// An extension that was negotiated, e.g. `io.modelcontextprotocol/tasks`.
    pub fn add_extension(&mut self, extension: &str) {
        let route = self.edit();
        if !route.extensions.iter().any(|known| &**known == extension) {
            route.extensions.push(extension.into());
        }
    }

    /// A fact only the host knows, for `when = { label.NAME = PATTERN }`: model, ring, tenant, trust … The last value
    /// of a name counts.
    pub fn set_label(&mut self, name: &str, value: &str) {
        let route = self.edit();
        route.labels.retain(|(label, _)| &**label != name);
        route.labels.push((name.into(), value.into()));
    }

    /// What the bytes will be.
    pub fn set_input(&mut self, input: Input) {
        self.edit().input = input;
    }

    /// The server's id, as it was given.
    pub fn server(&self) -> &str {
        &self.route.server
    }

    /// The tool's name, as it was given.
    pub fn tool(&self) -> &str {
        &self.route.tool
    }

    /// The audience, aliases resolved.
    pub fn audience(&self) -> &str {
        &self.route.audience
    }

    /// The table of this request under a policy, made when it is first asked for.
    pub(crate) fn table(&self, snapshot: &Arc<Snapshot>) -> Result<Arc<Slot>, Error> {
        for slot in &self.slots {
            let slot = slot.load();
            if slot.as_ref().is_some_and(|slot| std::ptr::eq(slot.of.as_ptr(), Arc::as_ptr(snapshot)))
                && let Some(slot) = Guard::into_inner(slot)
            {
                return Ok(slot);
            }
        }
        let table = specialise(snapshot, &self.route)?;
        let slot = Arc::new(Slot { of: Arc::downgrade(snapshot), route: Arc::clone(&self.route), table });
        let [first, second] = &self.slots;
        second.store(first.swap(Some(Arc::clone(&slot))));
        Ok(slot)
    }
}

impl Clone for Request {
    fn clone(&self) -> Request {
        Request::of((*self.route).clone())
    }
}

/// The table of a route under a policy.
pub(crate) fn specialise(snapshot: &Snapshot, route: &Route) -> Result<Table, Error> {
    let policy = &snapshot.policy;
    let chain = policy.audience(&route.audience).map(|audience| &*audience.chain).unwrap_or_default();
    Table::specialise(&policy.rules, &snapshot.index, chain, route).map_err(|error| match error {
        TableError::UnknownAudience => {
            let known: Vec<&str> = policy.audiences.iter().map(|audience| &*audience.name).collect();
            let shown: String = route.audience.chars().take(60).collect();
            let message = format!(
                "unknown-audience: policy {:?} does not define the audience {shown:?}; it defines {}, and a section [audience.NAME] would add one",
                policy.name,
                known.join(", ")
            );
            Error::new(Status::ErrAudience, message)
        }
        TableError::TooManyPredicates => {
            let message = format!(
                "bad-policy: more than {} distinct conditions on the route of server {:?} and tool {:?}; split the rules by server or tool",
                crate::table::MAX_PREDICATES, route.server, route.tool
            );
            Error::new(Status::ErrPolicy, message)
        }
    })
}
