//! Asking a result for facts without a policy: for examples that must be what they are said to be.

use super::facts::{Asked, Known, Scratch};
use crate::policy::rule::Condition;
use crate::result::json::MAX_DEPTH;
use crate::result::scan::{Input, Named, Outcome, Scan, Terms};
use crate::table::Facts;

/// Whether each of the conditions on a result is as it is said to be. A result that is refused, or whose blocks are not
/// for everybody, answers no condition.
pub(crate) fn all_are<'c>(result: &[u8], mut conditions: impl Iterator<Item = (&'c Condition, bool)>) -> bool {
    let terms = Terms {
        input: Input::Result,
        max_bytes: 64 << 20,
        max_depth: MAX_DEPTH,
        tasks: false,
        shows_structured: false,
    };
    let mut scan = Scan::default();
    if scan.read(result, &terms).is_err() || scan.outcome != Outcome::Selected {
        return false;
    }
    let is_narrowed = |named: Named| named.has(Named::SOME) || named.has(Named::EMPTY);
    if scan.blocks.iter().any(|block| is_narrowed(block.audience) || is_narrowed(block.inner_audience)) {
        return conditions.next().is_none();
    }
    let visible = vec![true; scan.blocks.len()];
    let (mut known, mut scratch) = (Known::default(), Scratch::default());
    let mut asked = Asked {
        bytes: result,
        scan: &scan,
        visible: &visible,
        definition: None,
        known: &mut known,
        scratch: &mut scratch,
    };
    conditions.all(|(condition, truth)| asked.holds(condition) == truth)
}
