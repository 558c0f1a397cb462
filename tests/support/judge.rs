//! What a result is, told from its tree: the kind of each block, who may see it, whether the whole is valid.
//!
//! Written from the specification's schema and the documented rules, without a look at the scanner.

use super::tree::Tree;

/// The kind of a block as policies write it. Members that a block's type does not have may be anything.
pub fn kind(block: &Tree) -> &'static str {
    let string = |of: &Tree, name: &str| of.given(name).is_none_or(|value| value.text().is_some());
    let has = |of: &Tree, name: &str| of.given(name).is_some_and(|value| value.text().is_some());
    let object = |of: &Tree, name: &str| of.given(name).is_none_or(Tree::is_object);
    if !object(block, "_meta") || !annotations_are_valid(block) {
        return "unknown";
    }
    let resource = block.given("resource").filter(|resource| resource.is_object());
    let (kind, valid) = match block.given("type").and_then(Tree::text) {
        Some("text") => ("text", has(block, "text")),
        Some("image") => ("image", has(block, "data") && has(block, "mimeType")),
        Some("audio") => ("audio", has(block, "data") && has(block, "mimeType")),
        Some("resource_link") => {
            let size = matches!(block.given("size"), None | Some(Tree::Number(_)));
            let texts = ["title", "description", "mimeType"].iter().all(|name| string(block, name));
            ("resource_link", has(block, "uri") && has(block, "name") && size && texts)
        }
        Some("resource") => {
            let Some(inner) = resource else { return "unknown" };
            let either = ["text", "blob"].iter().all(|name| string(inner, name));
            let one = has(inner, "text") != has(inner, "blob");
            let rest = object(inner, "_meta") && string(inner, "mimeType") && annotations_are_valid(inner);
            let kind = if has(inner, "blob") { "resource_blob" } else { "resource_text" };
            (kind, has(inner, "uri") && either && one && rest)
        }
        _ => ("unknown", true),
    };
    if !valid {
        return "unknown";
    }
    let place = if kind == "resource_link" { Some(block) } else { resource.filter(|_| kind.starts_with("resource_")) };
    if place.is_some_and(is_view) { "ui_resource" } else { kind }
}

fn annotations_are_valid(of: &Tree) -> bool {
    let audience = |audience: &Tree| {
        matches!(audience, Tree::List(_)) && audience.elements().iter().all(|entry| entry.text().is_some())
    };
    match of.given("annotations") {
        None => true,
        Some(annotations) => annotations.is_object() && annotations.given("audience").is_none_or(audience),
    }
}

/// A view of an MCP App: by scheme or by MIME type.
fn is_view(of: &Tree) -> bool {
    let text = |name: &str| of.given(name).and_then(Tree::text).unwrap_or_default().to_ascii_lowercase();
    let mime: String = text("mimeType").chars().filter(|c| !matches!(c, ' ' | '\t' | '"')).collect();
    text("uri").starts_with("ui://") || mime == "text/html;profile=mcp-app"
}

/// Whether `annotations = narrow` (or `narrow-strict`) hides a block from a role. The resource inside it counts too.
pub fn is_hidden(block: &Tree, role: &str, annotations: &str) -> bool {
    [Some(block), block.get("resource")].into_iter().flatten().any(|of| {
        let Some(audience) = of.get("annotations").and_then(|annotations| annotations.given("audience")) else {
            return false;
        };
        let names_role = |entry: &Tree| entry.text() == Some(role);
        match (annotations, audience) {
            ("ignore", _) => false,
            (_, Tree::List(entries)) if entries.is_empty() => annotations == "narrow-strict",
            (_, Tree::List(entries)) => !entries.iter().any(names_role),
            (_, Tree::Text(_)) => !names_role(audience),
            _ => false,
        }
    })
}

/// What is wrong with a selected result, if anything. `unknown` blocks may stand in it where a policy keeps them.
pub fn fault(result: &Tree, sampling: bool, keeps_unknown: bool) -> Option<String> {
    let mut known = vec!["content", "structuredContent", "isError", "_meta", "resultType"];
    if sampling {
        known.extend(["type", "toolUseId"]);
        if result.get("type").and_then(Tree::text) != Some("tool_result") {
            return Some("`type` is not tool_result".into());
        }
        if result.get("toolUseId").and_then(Tree::text).is_none() {
            return Some("`toolUseId` is no string".into());
        }
    }
    let names: Vec<&str> = result.members().iter().map(|(name, _)| &**name).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Some(format!("there is a member {name:?}"));
    }
    if (1..names.len()).any(|at| names[..at].contains(&names[at])) {
        return Some(format!("a member stands twice: {names:?}"));
    }
    let Some(Tree::List(blocks)) = result.get("content") else { return Some("`content` is no array".into()) };
    if !matches!(result.get("isError"), None | Some(Tree::Bool(_))) {
        return Some("`isError` is no boolean".into());
    }
    if !result.get("_meta").is_none_or(Tree::is_object) {
        return Some("`_meta` is no object".into());
    }
    if result.get("resultType").is_some_and(|kind| kind.text() != Some("complete")) {
        return Some("`resultType` is not complete".into());
    }
    blocks.iter().find_map(|block| match kind(block) {
        "unknown" if keeps_unknown && block.given("type").is_some_and(|kind| kind.text().is_some()) => None,
        "unknown" => Some(format!("no valid block: {block:?}")),
        _ => block_fault(block).map(|fault| format!("{fault}: {block:?}")),
    })
}

/// What is wrong with a block that was kept: repeated members, nulls.
fn block_fault(block: &Tree) -> Option<String> {
    for of in [Some(block), block.get("resource")].into_iter().flatten() {
        let names: Vec<&str> = of.members().iter().map(|(name, _)| &**name).collect();
        if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
            return Some(format!("`{}` stands twice", names[at]));
        }
        let optional = ["annotations", "_meta", "mimeType", "title", "description", "size", "icons", "text", "blob"];
        if let Some(name) = optional.iter().find(|name| of.get(name) == Some(&Tree::Null)) {
            return Some(format!("`{name}` is null"));
        }
        let annotations = of.get("annotations");
        let optional = ["audience", "priority", "lastModified"];
        if let Some(name) = optional.iter().find(|name| annotations.and_then(|a| a.get(name)) == Some(&Tree::Null)) {
            return Some(format!("`annotations.{name}` is null"));
        }
    }
    None
}
