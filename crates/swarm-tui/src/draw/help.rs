//! All keys, from the one table.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::text::{cut, pad, put, put_all, rule, span, wrapped};
use crate::keys::Part;
use crate::model::Model;
use crate::theme::Role;

pub fn lines(model: &Model) -> Vec<Line<'static>> {
    let theme = model.theme;
    let width = usize::from(model.size.0);
    let mut lines = Vec::new();
    for part in Part::ALL {
        lines.push(Line::from(span(theme, Role::Title, &format!(" {}", part.title()))));
        for binding in model.keys.all().iter().filter(|binding| binding.part == part) {
            let refused = binding.verb.and_then(|verb| model.refusal(verb));
            let past = model.past.is_some() && !binding.works_in_the_past();
            let role = if refused.is_some() || past { Role::Dim } else { Role::Plain };
            for (at, text) in wrapped(binding.help, width.saturating_sub(14)).iter().enumerate() {
                let shown = if at == 0 { binding.shown } else { "" };
                lines.push(Line::from(vec![
                    span(theme, Role::Key, &format!("   {}", pad(shown, 10))),
                    span(theme, role, text),
                ]));
            }
        }
    }
    let signs = " Signs: ! needs you  » works  ~ waits  = merges  ? in review  · ready  ✓ on trunk, proven";
    lines.push(Line::from(span(theme, Role::Dim, &cut(signs, width))));
    lines
}

pub fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    put(frame, area, rule(model.theme, "keys · dim ones are not possible now", area.width, Role::Title));
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    put_all(frame, body, lines(model).into_iter().skip(model.scroll));
}
