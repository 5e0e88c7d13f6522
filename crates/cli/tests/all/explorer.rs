//! The page of `--serve`, in a browser: each view, and a walk through a counterexample.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use quotient_testkit::browser::{Browser, Colours};
use quotient_testkit::pictures::expect_pictures;

/// A page that is served while this lives.
struct Page {
    process: Child,
    address: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn model(name: &str) -> String {
    format!("{}/../../models/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn serve(arguments: &[&str]) -> Page {
    let mut process = Command::new(env!("CARGO_BIN_EXE_quotient"))
        .args(arguments)
        .args(["--serve", "--no-browser"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut line = String::new();
    BufReader::new(process.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("page: ").expect("an address").to_owned();
    Page { process, address }
}

fn open(page: &Page, purpose: &str) -> Option<Browser> {
    let mut browser = Browser::start(purpose, (1280, 720), Colours::Light)?;
    browser.open(&page.address);
    browser.until("document.body?.dataset.ready === 'true'");
    Some(browser)
}

/// Compares the page with what is expected of its picture.
fn look(browser: &mut Browser, name: &str) {
    expect_pictures(browser, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures"), name);
}

/// German's protocol with the mistake: its verdict, the counterexample step by step, an expression that is watched, and
/// whether two caches are alike.
#[test]
fn a_walk_through_a_counterexample() {
    let page = serve(&["check", &model("murphi/german_forgotten_reader.m")]);
    let Some(mut browser) = open(&page, "a walk through a counterexample") else { return };
    browser.until("document.querySelector('[data-walk]')");
    assert_eq!(browser.text("#verdict"), "violated");
    let overview = browser.text("#overview");
    for seen in ["464", "2\u{202f}403", "S3", "(node 0 1)", "States by level", "no deadlock"] {
        assert!(overview.contains(seen), "{seen}: {overview}");
    }
    look(&mut browser, "overview");
    // The run, forward and back by keys.
    browser.click("[data-walk=coherence]");
    browser.until("document.querySelectorAll('[data-step]').length === 9");
    for _ in 0..5 {
        browser.press("ArrowRight", 39);
    }
    browser.press("ArrowLeft", 37);
    browser.until("document.querySelector('#run-position').textContent === '4 / 8'");
    browser.until("document.querySelector('#step-title')?.textContent.includes('grant a shared copy')");
    browser.until("document.querySelectorAll('#run tr.changed').length === 3");
    // The line of the text is marked, and in sight.
    assert!(browser.text("#run .source .here").contains("rule \"grant a shared copy\""));
    let in_sight = "(() => { const line = document.querySelector('#run .source .here').getBoundingClientRect(); \
                    return line.top > 100 && line.bottom < 720; })()";
    assert_eq!(browser.value(in_sight), true);
    look(&mut browser, "run");
    browser.click("[data-side=lanes]");
    browser.until("document.querySelectorAll('#run td.acts').length === 8");
    look(&mut browser, "lanes");
    // An expression after every step.
    browser.click("[data-side=watch]");
    browser.enter("#watch-input", "cache[client] = shared");
    browser.until("document.querySelectorAll('#watch-values tbody tr').length === 9");
    browser.enter("#watch-input", "exists n: node do holder[n] end");
    browser.until("document.querySelectorAll('#watch-values th').length === 3");
    browser.enter("#watch-input", "cache");
    browser.until("document.querySelectorAll('#watch-values th').length === 4");
    let last = browser.text("#watch-values tbody tr:last-child");
    assert!(last.starts_with('8') && last.contains("true"), "{last}");
    assert!(last.contains("[shared, exclusive, invalid]"), "{last}");
    browser.enter("#watch-input", "nobody");
    browser.until("document.querySelector('#run .beside .error')");
    assert!(browser.text("#run .beside .error").contains("nobody"));
    look(&mut browser, "watch");
    // The last state violates the invariant; another way from there, and back.
    browser.press("Escape", 27);
    browser.value("document.activeElement.blur()");
    browser.press("End", 35);
    browser.until("document.querySelector('#run-violation')?.textContent.includes('coherence')");
    browser.click("#run .take");
    browser.until("document.querySelector('#run-position').textContent === '9 / 9'");
    // The list and the state show the same step.
    browser.until("document.querySelector('[data-step=\"9\"]').lastChild.textContent === document.querySelector('#step-title').textContent");
    // In the graph it is a node, whose orbit can be unfolded.
    browser.click("#run p button.plain");
    browser.until("document.querySelectorAll('#graph .node').length > 3");
    browser.until("document.querySelector('#unfold')");
    browser.click("#unfold");
    browser.until("document.querySelector('#node-details').innerText.includes('the representative')");
    look(&mut browser, "unfolded");
    // Two caches.
    browser.press("4", 52);
    browser.until("document.querySelector('[data-value=node_0]')");
    browser.click("[data-value=node_0]");
    browser.click("[data-value=node_1]");
    browser.until("document.querySelector('#why-not')");
    assert_eq!(browser.text("#why-not"), "node_0 and node_1 are interchangeable");
    assert_eq!(browser.complaints(), [] as [String; 0]);
}

/// Why two caches are not alike, with the line of the text.
#[test]
fn two_caches_that_are_not_alike() {
    let page = serve(&["check", &model("murphi/home_cache.m")]);
    let Some(mut browser) = open(&page, "why two caches are not alike") else { return };
    browser.click("#tab-symmetry");
    browser.click("[data-value='1']");
    browser.click("[data-value='2']");
    browser.until("document.querySelector('#why-not')");
    assert_eq!(browser.text("#why-not"), "1 and 2 are not interchangeable");
    assert!(browser.text("#symmetry .answer").contains("flush"));
    assert!(browser.text("#symmetry .source .here").contains("rule \"flush\""));
    look(&mut browser, "why-not");
    assert_eq!(browser.complaints(), [] as [String; 0]);
}

/// The graph: drawn from the starts, filtered, searched, by mouse and by keyboard.
#[test]
fn the_graph() {
    let page = serve(&["explore", &model("murphi/german_forgotten_reader.m")]);
    let Some(mut browser) = open(&page, "the graph") else { return };
    browser.until("document.querySelector('#verdict').textContent === 'complete'");
    browser.press("2", 50);
    browser.until("document.querySelectorAll('#graph .node').length === 30");
    look(&mut browser, "graph");
    browser.click("[data-node='1']");
    browser.until("document.querySelector('#node-details').innerText.startsWith('Node 1')");
    assert!(browser.text("#node-details").contains("an orbit of 3 states"));
    browser.value("document.querySelector(\"[data-node='2']\").focus()");
    browser.press("Enter", 13);
    browser.until("document.querySelector('#node-details').innerText.startsWith('Node 2')");
    browser.enter("#graph-filter", "exclusive_granted");
    browser.until("document.querySelector('#graph [role=status]').innerText.includes('orbits')");
    browser.until("document.querySelector(\"[data-node='0']\") === null");
    browser.enter("#graph-filter", "exclusive_granted & nonsense");
    browser.until("document.querySelector('#node-details .error')");
    browser.enter("#graph-find", "exists n: node do cache[n] = exclusive end");
    browser.value("document.querySelector('#graph-filter').value = ''");
    browser.until("document.querySelector('#node-details').innerText.includes('exclusive')");
    browser.click("#node-details button");
    browser.until("document.querySelectorAll('[data-step]').length === 5");
    // A thousand nodes.
    browser.press("2", 50);
    browser.value(
        "(() => { const select = document.querySelector('#graph-limit'); select.value = '1000'; \
         select.dispatchEvent(new Event('change')); document.querySelector('#graph .tools button').click(); })()",
    );
    browser.until("document.querySelectorAll('#graph .node').length === 1000");
    look(&mut browser, "thousand");
    assert!(browser.complaints().iter().all(|it| it.contains("400")), "{:?}", browser.complaints());
}

/// Messages of Promela processes, and everything has a name for those who do not see it.
#[test]
fn messages_and_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("messages.pml");
    let text = "mtype = { request, answer }; chan ask = [1] of { mtype, byte }; chan reply = [1] of { mtype };
        active proctype client() { ask!request,1; reply?answer; ask!request,2; reply?answer }
        active proctype server() { byte n; do :: ask?request,n -> reply!answer od }";
    std::fs::write(&path, text).expect("the model can be written");
    let page = serve(&["check", &path.to_string_lossy()]);
    let Some(mut browser) = open(&page, "messages of processes") else { return };
    browser.press("3", 51);
    browser.until("document.querySelector('#run-begin option:nth-child(3)')");
    browser.value(
        "(() => { const select = document.querySelector('#run-begin'); select.selectedIndex = 2; \
         select.dispatchEvent(new Event('change')); })()",
    );
    browser.until("document.querySelectorAll('[data-step]').length > 8");
    browser.click("[data-side=chart]");
    browser.until("document.querySelectorAll('#run .chart path').length > 3");
    assert!(browser.text("#run .chart").contains("request(1)"));
    look(&mut browser, "chart");
    for view in 1..=4_u32 {
        browser.press(&view.to_string(), 48 + view);
        std::thread::sleep(Duration::from_millis(300));
        let nameless = browser.value(
            "[...document.querySelectorAll('button, input, select, [role=button], [role=img]')]
               .filter((it) => it.offsetParent !== null || it instanceof SVGElement)
               .filter((it) => !(it.getAttribute('aria-label') || it.textContent.trim() || it.labels?.length))
               .map((it) => it.outerHTML.slice(0, 200))",
        );
        assert_eq!(nameless, serde_json::json!([]), "view {view}");
        // Nothing is wider than the window.
        assert_eq!(browser.value("document.documentElement.scrollWidth <= 1280"), true, "view {view}");
    }
    assert_eq!(browser.complaints(), [] as [String; 0]);
}

/// A search of many states: progress comes, two pages are open, one is closed, the search is stopped.
#[test]
fn two_pages_during_a_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.m");
    let text = "var x: array [0..7] of 0..9; startstate begin clear x; end;
        ruleset i: 0..7 do rule \"step\" x[i] < 9 ==> begin x[i] := x[i] + 1; end; end; invariant \"order\" x[0] < 10 | x[1] = 7;";
    std::fs::write(&path, text).expect("the model can be written");
    let page = serve(&["check", "--symmetry", "off", "--partial-order", "off", &path.to_string_lossy()]);
    let Some(mut first) = open(&page, "two pages during a search") else { return };
    let Some(mut second) = open(&page, "two pages during a search") else { return };
    first.until("document.querySelector('#verdict').textContent === 'searching'");
    second.until("/[1-9]/.test(document.querySelector('#progress').textContent.split('states')[0])");
    drop(first);
    second.click("#tab-run");
    second.until("document.querySelectorAll('#run .take').length > 1");
    second.click("#tab-overview");
    second.click("#stop");
    second.until("document.querySelector('#verdict').textContent === 'inconclusive'");
    assert_eq!(second.complaints(), [] as [String; 0]);
}

/// An interrupt ends the page and the program, with the exit status of the check.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_page() {
    let mut page = serve(&["check", &model("murphi/german_forgotten_reader.m")]);
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(1500));
    let interrupt = Command::new("kill").args(["-INT", &page.process.id().to_string()]).status();
    assert!(interrupt.expect("a signal can be sent").success());
    let status = page.process.wait().expect("it ends");
    assert_eq!(status.code(), Some(1));
    assert!(begun.elapsed() < Duration::from_secs(10));
}
