//! The page, embedded.

/// A part of the page: its address, its kind and its contents.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! asset {
    ($path:literal, $file:literal, $kind:literal) => {
        Asset { path: $path, kind: $kind, text: include_str!(concat!("../assets/", $file)) }
    };
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All parts of the page.
pub(crate) const ASSETS: &[Asset] = &[
    asset!("/", "index.html", "text/html; charset=utf-8"),
    asset!("/style.css", "style.css", "text/css; charset=utf-8"),
    Asset { path: "/main.js", kind: SCRIPT, text: include_str!("../assets/main.js") },
    Asset { path: "/basics.js", kind: SCRIPT, text: include_str!("../assets/basics.js") },
    Asset { path: "/overview.js", kind: SCRIPT, text: include_str!("../assets/overview.js") },
    Asset { path: "/graph.js", kind: SCRIPT, text: include_str!("../assets/graph.js") },
    Asset { path: "/run.js", kind: SCRIPT, text: include_str!("../assets/run.js") },
    Asset { path: "/symmetry.js", kind: SCRIPT, text: include_str!("../assets/symmetry.js") },
];
