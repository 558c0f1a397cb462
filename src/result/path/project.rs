//! Copying what `structured.pick` and `structured.omit` leave of a value.

use super::tree::{Kind, Node, Tree};

/// It was picked: it and all inside it stays.
const PICKED: u8 = 1;
/// Something inside it was picked.
const ROUTE: u8 = 2;
/// It was omitted, or a later member has its name.
const GONE: u8 = 4;
/// Something inside it is gone.
const TOUCHED: u8 = 8;

/// What is known of each node, and the containers that are open while copying.
#[derive(Default, Debug)]
pub(super) struct Marks {
    of: Vec<u8>,
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    after: u32,
    in_object: bool,
    picked: bool,
    empty: bool,
}

impl Marks {
    /// Marks for a fresh table: repeated members are gone, nothing is picked.
    pub fn start(&mut self, tree: Tree) {
        self.of.clear();
        self.of.resize(tree.nodes.len(), 0);
        for (id, _) in (0..).zip(tree.nodes).filter(|(_, node)| node.repeated) {
            self.omit(tree, id);
        }
    }

    pub fn pick(&mut self, tree: Tree, id: u32) {
        self.add(id, PICKED);
        self.add_above(tree, id, ROUTE);
    }

    pub fn omit(&mut self, tree: Tree, id: u32) {
        self.add(id, GONE);
        self.add_above(tree, id, TOUCHED);
    }

    fn of(&self, id: u32) -> u8 {
        self.of.get(id as usize).copied().unwrap_or_default()
    }

    fn add(&mut self, id: u32, mark: u8) {
        if let Some(marks) = self.of.get_mut(id as usize) {
            *marks |= mark;
        }
    }

    /// Marks the containers around a node, up to one that was marked before: linear however many nodes ask.
    fn add_above(&mut self, tree: Tree, id: u32, mark: u8) {
        let mut at = id;
        while let Some(node) = tree.node(at) {
            at = node.parent;
            if self.of(at) & mark != 0 {
                return;
            }
            self.add(at, mark);
        }
    }

    fn stays(marks: u8, in_picked: bool) -> bool {
        marks & GONE == 0 && (in_picked || marks & (PICKED | ROUTE) != 0)
    }

    /// Whether every node stays.
    pub fn keep_all(&self, tree: Tree) -> bool {
        let mut id = 0;
        while let Some(node) = tree.node(id) {
            let marks = self.of(id);
            if marks & TOUCHED != 0 || !Marks::stays(marks, false) {
                return false;
            }
            id = if marks & PICKED != 0 { node.after } else { id + 1 };
        }
        true
    }

    /// Appends what stays. Names, strings and numbers keep their spelling.
    pub fn copy(&mut self, tree: Tree, out: &mut Vec<u8>) {
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        let mut id = 0;
        loop {
            while let Some(done) = open.pop_if(|inside| inside.after <= id) {
                out.push(if done.in_object { b'}' } else { b']' });
            }
            let Some(node) = tree.node(id) else { break };
            let marks = self.of(id);
            let picked = marks & PICKED != 0 || open.last().is_some_and(|inside| inside.picked);
            if !Marks::stays(marks, picked) {
                id = node.after;
                continue;
            }
            if let Some(inside) = open.last_mut() {
                separate(inside, tree, node, out);
            }
            let in_object = match node.kind {
                Kind::Object if !picked || marks & TOUCHED != 0 => true,
                Kind::Array if !picked || marks & TOUCHED != 0 => false,
                _ => {
                    out.extend_from_slice(tree.text(node.span));
                    id = node.after;
                    continue;
                }
            };
            out.push(if in_object { b'{' } else { b'[' });
            open.push(Open { after: node.after, in_object, picked, empty: true });
            id += 1;
        }
        self.open = open;
    }
}

/// The comma before a child, and its name.
fn separate(inside: &mut Open, tree: Tree, node: &Node, out: &mut Vec<u8>) {
    if !inside.empty {
        out.push(b',');
    }
    inside.empty = false;
    if inside.in_object {
        out.push(b'"');
        out.extend_from_slice(tree.text(node.name));
        out.extend_from_slice(b"\":");
    }
}
