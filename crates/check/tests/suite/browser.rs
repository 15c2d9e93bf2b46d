//! The page of a counterexample in a real browser. Skipped, saying so, where no Chromium is installed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use trivium_check::chart::{self, Story};
use trivium_check::{System, explore};

/// Presses keys and buttons, and writes down what the page then shows. It runs after the page's own script.
const DRIVER: &str = r#"
const log = [];
const key = name => document.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const seen = () => {
  const view = at('picture').getBoundingClientRect(), band = document.querySelector('#picture .band.now');
  const box = band && band.getBoundingClientRect();
  return !box || (view.top <= box.top && box.bottom <= view.bottom) ? 'seen' : 'hidden';
};
const note = what => log.push([what, at('where').textContent, at('event').textContent, at('file').textContent,
  at('nodes').children.length, at('messages').textContent,
  [...document.querySelectorAll('#source .here')].map(row => row.textContent).join('|'),
  [...document.querySelectorAll('#picture .band.now')].map(band => band.dataset.step).join(),
  [...document.querySelectorAll('#nodes .card.now')].map(card => card.dataset.node).join(),
  at('wrong').textContent, seen()].join('\t'));
note('opened');
key('Home'); note('start');
for (let i = 0; i < 3; i++) { key('ArrowRight'); note('right'); }
key('ArrowLeft'); note('left');
at('forward').click(); note('forward');
at('back').click(); note('back');
key('End'); note('end');
at('forward').click(); note('beyond');
document.querySelector('#picture .band[data-step="9"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
note('picture');
key('Home'); note('home');
document.body.replaceChildren(element('pre', '', '<<<' + log.join('\n') + '>>>'));
"#;

fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/bin".into());
    let names = ["chromium", "chromium-browser", "google-chrome"];
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|path| path.is_file())
}

fn lost_upgrade() -> Story {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let load = |path: &str| std::fs::read_to_string(folder.join(path)).map_err(|e| e.to_string());
    let name = "broken/stache-lost-upgrade.tri";
    let options = trivium_lang::Options { params: Vec::new(), load: Some(&load) };
    let protocol = Arc::new(trivium_lang::compile(name, &load(name).unwrap(), &options).unwrap());
    let system = System { nodes: 2, ..System::default() };
    let report = explore(&protocol, &system.clone().into()).unwrap();
    chart::story(&protocol, &system, &report).unwrap().unwrap()
}

/// What the page showed after each key and button.
fn driven(browser: &Path, story: &Story) -> Vec<Vec<String>> {
    let folder = std::env::temp_dir().join(format!("trivium-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = folder.join("page.html");
    std::fs::write(&page, chart::html(story).replace("</body>", &format!("<script>{DRIVER}</script></body>"))).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let dom = String::from_utf8_lossy(&output.stdout).replace("&lt;", "<").replace("&gt;", ">");
    let log = dom.split_once("<pre class=\"\">").map_or(dom.as_str(), |(_, rest)| rest);
    let log = log.split_once("<<<").and_then(|(_, rest)| rest.split_once(">>>"));
    let (log, _) =
        log.unwrap_or_else(|| panic!("the page failed:\n{dom}\n{}", String::from_utf8_lossy(&output.stderr)));
    log.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

#[test]
fn one_steps_through_the_page_with_keys_buttons_and_the_picture() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium is installed, so the page was not tried (apt-get install chromium)");
        return;
    };
    let story = lost_upgrade();
    let log = driven(&browser, &story);
    let last = story.moments.len();
    // It opens at the fault.
    let steps = [last, 0, 1, 2, 3, 2, 3, 2, last, last, 9, 0];
    assert_eq!(log.len(), steps.len(), "{log:?}");
    for (line, step) in log.iter().zip(steps) {
        let [_, place, event, file, nodes, messages, here, band, card, wrong, seen] = line.as_slice() else {
            panic!("{line:?}")
        };
        assert_eq!(place, &format!("step {step} of {last}"), "{line:?}");
        assert_eq!((nodes.as_str(), seen.as_str()), ("2", "seen"), "{line:?}");
        let flying =
            story.arrows.iter().filter(|a| a.sent <= step as u32 && a.received.is_none_or(|r| r > step as u32));
        let flying: Vec<&str> = flying.map(|a| &*a.label).collect();
        assert_eq!(flying.is_empty(), messages == "none", "{line:?}");
        assert!(flying.iter().all(|label| messages.contains(label)), "{line:?}");
        assert_eq!(wrong.contains("although the last store"), step == last, "{line:?}");
        let Some(moment) = step.checked_sub(1).map(|at| &story.moments[at]) else {
            assert_eq!((event.as_str(), here.as_str(), band.as_str()), ("Before the first event.", "", ""));
            continue;
        };
        assert!(event.contains(&format!("node {}: {}", moment.node, moment.event)), "{line:?}");
        assert_eq!((band, card), (&step.to_string(), &moment.node.to_string()), "{line:?}");
        match &moment.source {
            Some(source) => {
                assert!(file.contains(&format!("{}, line {}", source.file, source.first)), "{line:?}");
                assert!(here.contains(&source.text), "{line:?}");
            }
            None => assert_eq!(here, "", "{line:?}"),
        }
    }
}
