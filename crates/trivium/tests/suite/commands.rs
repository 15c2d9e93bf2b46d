//! Commands that help with others: completions, manual pages, a folder to begin in; and names for what is built in.

use crate::harness::{command, root, trivium};
use std::process::Command;

#[test]
fn shells_take_the_completions() {
    let folder = crate::harness::folder();
    for (shell, word) in
        [("bash", "complete -F _trivium"), ("zsh", "#compdef trivium"), ("fish", "complete -c trivium")]
    {
        let run = trivium(&["completions", shell]);
        assert!(run.code == Some(0) && run.out.contains(word), "{shell}: {}", run.err);
        assert!(run.out.contains("max-states") && run.out.contains("programs"), "{shell}");
        let file = folder.path().join(shell);
        std::fs::write(&file, &run.out).unwrap();
        // Where the shell is installed, it must take them.
        if let Ok(output) = Command::new(shell).arg("-n").arg(&file).output() {
            assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    trivium(&["completions", "csh"]).refuses(2, &["csh"]);
}

#[test]
fn each_command_has_a_manual_page() {
    let page = trivium(&["man"]);
    assert!(page.code == Some(0) && page.out.contains(".TH trivium 1"), "{page:?}");
    let help = trivium(&["--help"]).out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let commands: Vec<&str> = commands.into_iter().filter(|name| !name.is_empty()).collect();
    assert!(commands.len() > 15, "{commands:?}");
    for name in commands {
        let page = trivium(&["man", name]);
        assert!(page.code == Some(0) && page.out.contains(".SH SYNOPSIS"), "{name}: {page:?}");
        if name == "help" {
            continue;
        }
        let own = trivium(&[name, "--help"]);
        assert!(own.code == Some(0) && own.out.contains(&format!("Usage: trivium {name}")), "{name}: {own:?}");
    }
    trivium(&["man", "nothing"]).refuses(2, &["there is no command `nothing`"]);
}

#[test]
fn a_new_folder_has_a_protocol_and_a_program_that_work() {
    let folder = crate::harness::folder();
    let mine = folder.path().join("mine");
    let run = trivium(&["init", mine.to_str().unwrap()]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let within = |args: &[&str]| {
        let output = command(args).current_dir(&mine).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // As it tells to go on.
    let next: Vec<&str> = run.out.lines().filter_map(|line| line.strip_prefix("  trivium ")).collect();
    assert_eq!(next.len(), 3, "{}", run.out);
    let outs: Vec<String> = next.iter().map(|line| within(&line.split(' ').collect::<Vec<_>>())).collect();
    assert!(outs[1].contains("holds") && outs[2].contains("the sum is 6"), "{outs:?}");
    // Whatever compiles C finds the header by the flags that clangd reads.
    let flags = std::fs::read_to_string(mine.join("compile_flags.txt")).unwrap();
    let include = flags.lines().find_map(|line| line.strip_prefix("-I")).unwrap();
    assert!(
        mine.join(include).join("trivium.h").is_file() && mine.join(include).join("trivium/token-lock.h").is_file()
    );
    trivium(&["init", mine.to_str().unwrap()]).refuses(2, &["there is something already"]);
}

#[test]
fn programs_are_found_by_name() {
    let listed = trivium(&["programs"]);
    for file in std::fs::read_dir(root().join("programs")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "c") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let line = listed.out.lines().find(|line| line.split(' ').next() == Some(name));
            assert!(line.is_some_and(|line| line.len() > name.len() + 10), "{name}: {line:?}");
        }
    }
    // From anywhere, and with what it includes.
    let folder = crate::harness::folder();
    let within = |args: &[&str]| command(args).current_dir(folder.path()).output().unwrap();
    let args = ["-p", "stache", "-p", "deferred-update", "-m", "typhoon", "-n", "2", "--format", "json"];
    let run = within(&[&["sim", "em3d-update"], &args[..], &["--", "-t", "200", "-i", "1"]].concat());
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(result["program"], "em3d-update");
    let path = root().join("programs/em3d-update.c");
    let same = within(&[&["sim", path.to_str().unwrap()], &args[..], &["--", "-t", "200", "-i", "1"]].concat());
    let same: serde_json::Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!(result["cycles"], same["cycles"]);
    trivium(&["sim", "em3", "-p", "msi", "-m", "typhoon"]).refuses(2, &["no program `em3`", "did you mean `em3d`?"]);
}

#[test]
fn the_text_of_a_protocol_is_printed_as_it_is() {
    let run = trivium(&["show", "msi", "--source"]);
    assert_eq!(run.out, std::fs::read_to_string(root().join("protocols/msi.tri")).unwrap());
    let run = trivium(&["show", "broken/msi-forgotten-ack", "--source"]);
    assert!(run.code == Some(0) && run.err.contains("`trivium show msi --source`"), "{run:?}");
    trivium(&["show", "msi", "--source", "--format", "dot"]).refuses(2, &["--source"]);
}

#[test]
fn svg_means_a_file_everywhere() {
    let folder = crate::harness::folder();
    let file = folder.path().join("msi.svg");
    let run = trivium(&["show", "msi", "--svg", file.to_str().unwrap()]);
    assert!(run.code == Some(0) && run.out == trivium(&["show", "msi"]).out);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), trivium(&["show", "msi", "--format", "svg"]).out);
}

#[test]
fn protocols_and_machines_are_named_in_the_same_way_everywhere() {
    let miss = trivium(&["miss", "-m", "typhoon", "-m", "typhoon-1", "--block", "32", "--format", "json"]).json(0);
    assert_eq!((&miss[0]["total"], &miss[1]["total"]), (&401.into(), &807.into()));
    let one = trivium(&["miss", "-m", "typhoon-1", "--block", "32", "--format", "json"]).json(0);
    assert_eq!(one["total"], 807);
    let compare = |names: &[&str]| {
        let args = [&["compare", "programs/hello.c", "-n", "2"], names].concat();
        let run = trivium(&args);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.out
    };
    let table = compare(&["--protocols", "msi,stache", "--machines", "typhoon,typhoon-1"]);
    assert_eq!(compare(&["-p", "msi", "-p", "stache", "-m", "typhoon", "-m", "typhoon-1"]), table);
    assert_eq!(compare(&["--protocol", "msi", "--protocol", "stache", "--machine", "typhoon,typhoon-1"]), table);
}

/// A command with what it needs.
fn with_subject(command: &str) -> Vec<&str> {
    match command {
        "miss" => vec!["miss", "-m", "typhoon"],
        "replay" | "study" => vec![command, "none"],
        "machine" => vec!["machine", "typhoon"],
        "show" | "header" | "check" | "mutate" => vec![command, "msi"],
        "export" => vec!["export", "msi", "--to", "spin"],
        "run" => vec!["run", "hello.c", "-p", "msi"],
        _ => vec![command],
    }
}

#[test]
fn options_are_taken_where_they_act_and_nowhere_else() {
    let has_no_effect = |command: &str, option: &str| {
        let help = trivium(&[command, "--help"]).out;
        assert!(!help.contains(&format!("{option} <")), "{command} {option}: {help}");
        let run = trivium(&[&with_subject(command)[..], &[option, "3"]].concat());
        run.refuses(2, &[&format!("error: {option} has no effect in `trivium {command}`"), "help: leave it out"]);
    };
    for command in ["protocols", "machines", "programs", "header"] {
        ["--seed", "--jobs", "--set"].iter().for_each(|option| has_no_effect(command, option));
    }
    for command in ["miss", "replay", "machine", "show", "export", "run"] {
        ["--seed", "--jobs"].iter().for_each(|option| has_no_effect(command, option));
    }
    has_no_effect("mutate", "--seed");
    has_no_effect("study", "--set");
    let told = |command: &str, option: &str| trivium(&[command, "--help"]).out.contains(option);
    for command in ["sim", "check", "compare"] {
        assert!(["--seed", "--jobs", "--set"].iter().all(|option| told(command, option)), "{command}");
    }
    for command in ["miss", "replay", "machine", "mutate", "show", "export", "run"] {
        assert!(told(command, "--set"), "{command}");
    }
    assert!(told("mutate", "--jobs") && told("study", "--jobs") && told("study", "--seed"));
}

/// The commands of `docs/gallery.md` draw the pictures that it shows.
#[test]
fn pictures_of_the_gallery_are_what_their_commands_draw() {
    let folder = crate::harness::folder();
    let gallery = std::fs::read_to_string(root().join("docs/gallery.md")).unwrap();
    let mut drawn = 0;
    for command in gallery.lines().filter_map(|line| line.strip_prefix("`trivium ")?.strip_suffix('`')) {
        let mut words: Vec<&str> = command.split(' ').collect();
        let file = words.iter().position(|word| *word == "--svg").unwrap() + 1;
        let shown = root().join(words[file]);
        let made = folder.path().join("made.svg");
        words[file] = made.to_str().unwrap();
        let run = trivium(&words);
        assert!(run.code.is_some_and(|code| code < 2), "{command}: {}", run.err);
        let same = std::fs::read_to_string(&made).unwrap() == std::fs::read_to_string(&shown).unwrap();
        if std::env::var_os("UPDATE").is_some() {
            std::fs::copy(&made, &shown).unwrap();
        } else {
            assert!(same, "{command} draws another picture: UPDATE=1 writes it");
        }
        drawn += 1;
    }
    assert!(drawn >= 3, "the gallery has lost pictures");
}

/// Each picture is shown by a page.
#[test]
fn pictures_are_shown() {
    let listed = |folder: &str| std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let pages: Vec<String> = listed("docs").filter_map(|page| std::fs::read_to_string(page).ok()).collect();
    for picture in listed("docs/pictures") {
        let shown = format!("](pictures/{})", picture.file_name().unwrap().to_str().unwrap());
        assert!(pages.iter().any(|page| page.contains(&shown)), "no page shows {}", picture.display());
    }
}

/// A comment or a page that names a file of ours names one that is there.
#[test]
fn documents_that_are_cited_are_there() {
    let listed = Command::new("git").args(["ls-files"]).current_dir(root()).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let named: std::collections::BTreeSet<&str> =
        listed.lines().filter_map(|file| file.rsplit('/').next()).filter(|name| name.ends_with(".md")).collect();
    if named.is_empty() {
        return; // not a checkout
    }
    let mut wrong = Vec::new();
    for file in listed.lines().filter(|file| !file.ends_with(".svg") && !file.contains("/tests/")) {
        let Ok(text) = std::fs::read_to_string(root().join(file)) else { continue };
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        for word in words.map(|word| word.trim_end_matches('.')).filter(|word| word.ends_with(".md") && word.len() > 3)
        {
            if !named.contains(word) {
                wrong.push(format!("{file}: {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A machine whose file says only what differs is printed with all its keys, from which it can be loaded again.
#[test]
fn a_machine_is_printed_with_the_keys_of_its_base() {
    let folder = crate::harness::folder();
    let [mine, printed] = ["mine.toml", "printed.toml"].map(|name| folder.path().join(name));
    let text = "name = \"mine\"\nbase = \"typhoon\"\n[network]\nlatency = 77\n";
    std::fs::write(&mine, text).unwrap();
    let [mine, printed] = [&mine, &printed].map(|path| path.to_str().unwrap());
    let values = |name: &str| trivium(&["machine", name, "--format", "json"]).json(0)["values"].clone();
    let whole = trivium(&["machine", mine]);
    assert!(whole.out.starts_with("# With the keys of its base, typhoon."), "{whole:?}");
    std::fs::write(printed, &whole.out).unwrap();
    assert_eq!(values(printed), values(mine));
    assert_eq!((&values(mine)["network"]["latency"], &values(mine)["base"]), (&77.into(), &serde_json::Value::Null));
    assert_eq!(values(mine)["processor"], values("typhoon")["processor"]);
    assert_eq!(trivium(&["machine", mine, "--source"]).out, text);
    assert_eq!(trivium(&["machine", "typhoon"]).out, trivium(&["machine", "typhoon", "--source"]).out);
}

#[test]
fn a_machine_is_set_only_where_there_is_one() {
    for args in
        [&["check", "msi"][..], &["show", "msi"], &["export", "msi", "--to", "murphi"], &["run", "hello", "-p", "msi"]]
    {
        let args = [args, &["--set", "machine.cpi=1"]].concat();
        trivium(&args).refuses(2, &["`--set machine.cpi=1` has no effect", "no machine"]);
    }
}

/// What no number of nodes that the file asks for can use, `show` refuses as `check` does.
#[test]
fn what_cannot_be_checked_is_not_shown() {
    let folder = crate::harness::folder();
    let file = folder.path().join("wide.tri");
    let text = "protocol wide\ncheck nodes 200\nlane main fifo buffered\n\
        message Sets(a: set of node, b: set of node, c: set of node, d: set of node, e: set of node) on main\n\
        role home of block {\n  state Here: write { on Sets(a, b, c, d, e) { } }\n}\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    for command in [&["check", file][..], &["show", file], &["show", file, "--format", "svg"]] {
        trivium(command).refuses(2, &["the arguments of message Sets take 20 words with 200 nodes; 16 are possible"]);
    }
}

/// A protocol's header that is looked for beside the program lies elsewhere.
#[test]
fn headers_of_protocols_are_found_for_who_forgot_their_folder() {
    let folder = crate::harness::folder();
    let file = folder.path().join("forgot.c");
    std::fs::write(&file, "#include \"swcc.h\"\nint main(void) { return 0; }\n").unwrap();
    let file = file.to_str().unwrap();
    let run = trivium(&["sim", file, "-p", "swcc", "-m", "typhoon", "-n", "2"]);
    run.refuses(2, &["'swcc.h' file not found", "write #include <trivium/swcc.h>"]);
}
