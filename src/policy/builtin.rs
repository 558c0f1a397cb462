//! The policies that are always there. They are data: `rules/*.toml`.

/// Every built-in policy: its name and its text.
pub const BUILTINS: &[(&str, &str)] = &[
    ("sep-2200", include_str!("../../rules/sep-2200.toml")),
    ("lossless", include_str!("../../rules/lossless.toml")),
    ("mcp-apps", include_str!("../../rules/mcp-apps.toml")),
    ("openai-apps", include_str!("../../rules/openai-apps.toml")),
    ("raw", include_str!("../../rules/raw.toml")),
    ("sep-3279-preview", include_str!("../../rules/sep-3279-preview.toml")),
    ("kimi-code-2026-08-04", include_str!("../../rules/kimi-code-2026-08-04.toml")),
    ("kimi-code-size-ratio", include_str!("../../rules/kimi-code-size-ratio.toml")),
    ("kimi-code-2026-08-25", include_str!("../../rules/kimi-code-2026-08-25.toml")),
    ("kimi-code-2026-09-08", include_str!("../../rules/kimi-code-2026-09-08.toml")),
    ("codex", include_str!("../../rules/codex.toml")),
    ("vscode", include_str!("../../rules/vscode.toml")),
    ("opencode", include_str!("../../rules/opencode.toml")),
    ("openai-agents", include_str!("../../rules/openai-agents.toml")),
    ("pydantic-ai", include_str!("../../rules/pydantic-ai.toml")),
    ("langchain", include_str!("../../rules/langchain.toml")),
    ("anthropic-sdk", include_str!("../../rules/anthropic-sdk.toml")),
    ("fast-agent", include_str!("../../rules/fast-agent.toml")),
    ("open-webui", include_str!("../../rules/open-webui.toml")),
    ("text-only", include_str!("../../rules/text-only.toml")),
];

/// The text of a built-in policy.
pub fn builtin(name: &str) -> Option<&'static str> {
    BUILTINS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
