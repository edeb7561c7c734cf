//! What keeps a node from starting is told before it is started, in the same sentence.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use doorway_daemon::certificates::{Authority, CertifiedKey, Validity};
use doorway_daemon::{Config, Daemon};

use crate::cluster::{Cluster, start};

/// The sentence with which a configuration is refused, both by a check and by a start.
fn refused(config: &Config) -> String {
    let asked = Daemon::check(config).expect_err("it is wrong").to_string();
    let started = start(config.clone()).expect_err("it is wrong").to_string();
    assert_eq!(asked, started);
    asked
}

#[test]
fn check_start_and_reload_refuse_the_same_certificates() {
    let cluster = Cluster::founded(2);
    let authority = Authority::read(&cluster.folder).expect("it is there");
    let folder = cluster.folder.join("a");
    let right = CertifiedKey {
        certificate: fs::read_to_string(folder.join("node.pem")).expect("it is there"),
        key: fs::read_to_string(folder.join("node.key")).expect("it is there"),
    };
    let config = cluster.config("a");
    assert_eq!(Daemon::check(&config), Ok(()));
    let day = Duration::from_secs(24 * 60 * 60);
    let now = SystemTime::now();
    let sign = |from, until| authority.sign_for("a", Validity { from, until }).expect("a good name");
    let stranger = Authority::new("lab").expect("a good name").sign("a").expect("a good name");
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let certificate = |text: &str| CertifiedKey { certificate: text.to_owned(), ..right.clone() };
    let running = start(config.clone()).expect("it is right");
    let wrong = [
        (certificate("nonsense"), "node.pem holds no certificate"),
        (certificate(garbage), "node.pem holds no certificate"),
        (
            authority.sign("b").expect("a good name"),
            "is not the certificate of node \"a\" of cluster \"lab\"",
        ),
        (stranger, "node.pem is not signed by the authority in "),
        (sign(now - day * 2, now - day), "node.pem has expired: `doorway cluster rotate-certificates`"),
        (sign(now + day, now + day * 2), "node.pem is not valid yet: check the clock of this machine"),
        (certificate(&authority.sign("a").expect("a good name").certificate), "node.key is not the key of "),
    ];
    for (pair, part) in &wrong {
        pair.write(&folder).expect("room");
        let again = running.reload().expect_err(part).to_string();
        assert!(again.contains(part), "{again}");
    }
    drop(running);
    for (pair, part) in &wrong {
        pair.write(&folder).expect("room");
        let sentence = refused(&config);
        assert!(sentence.contains(part), "{sentence}");
    }
    right.write(&folder).expect("room");
    // The daemon's group may read a key of root's, for any caller.
    let is_from_root = config.tls.key.metadata().expect("it is there").uid() == 0;
    set_mode(&config.tls.key, 0o640);
    assert_eq!(Daemon::check(&config).is_ok(), is_from_root);
    for mode in [0o644, 0o660, 0o602] {
        set_mode(&config.tls.key, mode);
        let sentence = refused(&config);
        assert!(sentence.ends_with(&format!("chmod 600 {}", config.tls.key.display())), "{sentence}");
    }
    set_mode(&config.tls.key, 0o400);
    drop(start(config).expect("it is right again"));
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn an_unusable_path_is_refused_before_anything_is_made() {
    let cluster = Cluster::founded(1);
    let right = cluster.config("a");
    let changed = |change: &dyn Fn(&mut Config)| {
        let mut config = right.clone();
        change(&mut config);
        refused(&config)
    };
    let file = cluster.folder.join("file");
    fs::write(&file, "text").expect("room");
    let sentence = changed(&|config| config.data = file.clone());
    assert!(sentence.contains("file cannot be used: not a directory"), "{sentence}");
    let sentence = changed(&|config| config.data = file.join("below").join("data"));
    assert!(sentence.contains("data cannot be used: Not a directory"), "{sentence}");
    // Counted to the byte, with the six more of the administrators' socket: this is one more than the system takes.
    let short = cluster.folder.join("").as_os_str().len();
    let name = |bytes: usize| cluster.folder.join(format!("{}.sock", "x".repeat(bytes - short - 5)));
    let sentence = changed(&|config| config.socket = Some(name(102)));
    assert!(sentence.contains("has 108 bytes, and the system takes 107"), "{sentence}");
    let mut longest = right.clone();
    longest.socket = Some(name(101));
    drop(start(longest).expect("the system takes it"));
    for path in [&file, &right.tls.key, &right.data] {
        let sentence = changed(&|config| config.socket = Some(path.clone()));
        assert!(sentence.contains("socket"), "{sentence}");
        assert!(path.exists(), "and it is left alone");
    }
    let sentence = changed(&|config| config.socket = Some(file.clone()));
    assert!(sentence.ends_with("file exists and is not a socket"), "{sentence}");
    let sentence = changed(&|config| config.health = config.me().address.parse().ok());
    assert!(sentence.contains("take another port"), "{sentence}");
    let sentence = changed(&|config| config.limits.clients = 0);
    assert!(sentence.contains("nobody could connect"), "{sentence}");
    fs::write(right.data.join("node.log"), "no disk").expect("room");
    let sentence = changed(&|_| {});
    assert!(
        sentence.contains("node.log cannot be used: this is not the file of a Doorway node"),
        "{sentence}"
    );
    let mut new = right.clone();
    new.data = cluster.folder.join("one").join("two");
    assert_eq!(Daemon::check(&new), Ok(()), "it can be made");
    assert!(!new.data.exists(), "and was not");
}

#[test]
fn an_unusable_file_is_reported_with_its_line() {
    let cluster = Cluster::founded(1);
    let right = cluster.config("a");
    let path = cluster.folder.join("a").join("node.toml");
    let text = fs::read_to_string(&path).expect("it is there");
    for key in ["authority", "certificate", "key"] {
        let changed = format!("tls.{key} = \"none.pem\"\n{}", text.replacen("[tls]", "", 1));
        fs::write(&path, changed).expect("room");
        let mut config = Config::load(&path).expect("it can be read");
        config.socket.clone_from(&right.socket);
        let sentence = refused(&config);
        let told = format!("{}, line 1: ", path.display());
        assert!(sentence.starts_with(&told) && sentence.contains("none.pem cannot be read"), "{sentence}");
    }
}
