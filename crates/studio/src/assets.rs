//! The pages, which are part of the program. A build for debugging reads them from their folder at every request instead.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use doorway_picture::{Weight, font_file};
use rust_embed::RustEmbed;

use crate::answer::Rejection;

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Assets;

/// The file at a path; the page itself at the root.
pub(crate) async fn answer(uri: Uri) -> Response {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        "fonts/regular.ttf" => return font(Weight::Regular),
        "fonts/semibold.ttf" => return font(Weight::SemiBold),
        path => path,
    };
    match Assets::get(path) {
        Some(file) => {
            let kind = file.metadata.mimetype().to_owned();
            let kind = if kind.starts_with("text/") { format!("{kind}; charset=utf-8") } else { kind };
            let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache".to_owned())];
            (StatusCode::OK, headers, file.data).into_response()
        }
        None => Rejection::missing("There is no such page.").into_response(),
    }
}

/// The font of pictures: with it, the texts of a laid-out picture have the widths that the layout counts with.
fn font(weight: Weight) -> Response {
    let headers = [(header::CONTENT_TYPE, "font/ttf"), (header::CACHE_CONTROL, "no-cache")];
    (StatusCode::OK, headers, font_file(weight)).into_response()
}
