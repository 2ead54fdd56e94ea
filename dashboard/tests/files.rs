//! What is shipped to browsers: how much, from where, and what it may not do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use ojs_engine::Hosts;
use sha2::{Digest, Sha256};
use tower::ServiceExt;

/// Compressed bytes that a browser fetches before the first screen.
const FIRST_PAGE: usize = 60_000;
/// Compressed bytes of all files: they are most of what the binary grows by, whose bound is 400 KB.
const ALL: usize = 150_000;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Our own files, with their text.
fn own(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(own(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

async fn get(path: &str, headers: &[(&str, &str)]) -> Response<Body> {
    let mut request = Request::get(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    ojs_dashboard::router(Hosts::default(), None).unwrap().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

/// The folder that the shell names, with its slash.
async fn folder() -> String {
    let shell = text(get("/ui/", &[]).await).await;
    let (_, rest) = shell.split_once("src=\"a/").unwrap();
    format!("/ui/a/{}/", rest.split('/').next().unwrap())
}

#[test]
fn the_first_page_and_all_files_keep_to_their_budgets() {
    let (first, all) = (ojs_dashboard::first_page_bytes(), ojs_dashboard::all_bytes());
    println!("first page {first} bytes, all {all} bytes, compressed");
    assert!(first <= FIRST_PAGE, "{first} bytes");
    assert!(all <= ALL, "{all} bytes");
    assert!(first < all, "the chart is fetched on demand");
}

#[test]
fn published_files_are_unchanged_and_all_are_listed() {
    let vendor = root().join("vendor");
    let listed: toml::Table = fs::read_to_string(vendor.join("VENDOR.toml")).unwrap().parse().unwrap();
    let mut names = BTreeSet::new();
    for file in listed["files"].as_array().unwrap() {
        let name = file["file"].as_str().unwrap();
        let sum: String = Sha256::digest(fs::read(vendor.join(name)).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(Some(&*sum), file["sha256"].as_str(), "{name} has been changed");
        names.insert(name.to_owned());
    }
    let there = fs::read_dir(&vendor).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<String> = there.filter(|name| !name.starts_with("LICENSE") && name != "VENDOR.toml").collect();
    assert_eq!(names, there);
}

#[test]
fn our_own_files_make_no_markup_of_text_and_run_nothing_inline() {
    for (path, text) in own(&root().join("web")) {
        let name = path.display();
        for forbidden in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "javascript:"]
        {
            assert!(!text.contains(forbidden), "{name} has {forbidden}");
        }
        if path.extension().is_some_and(|end| end == "html") {
            for inline in ["<style", " style=", " onclick=", " onload=", "<script>"] {
                assert!(!text.contains(inline), "{name} has {inline}");
            }
        }
    }
}

#[test]
fn every_import_names_a_file_that_is_there() {
    let web = root().join("web");
    for (path, text) in own(&web) {
        for line in text.lines().filter(|line| line.starts_with("import ") || line.starts_with("export {")) {
            let Some((_, rest)) = line.split_once(" from '") else { continue };
            let asked = rest.split('\'').next().unwrap();
            assert!(asked.starts_with("./") || asked.starts_with("../"), "{}: {asked} is a bare import", path.display());
            let vendored = asked.split_once("vendor/").map(|(_, name)| root().join("vendor").join(name));
            let file = vendored.unwrap_or_else(|| path.parent().unwrap().join(asked));
            assert!(file.exists(), "{}: there is no {asked}", path.display());
        }
    }
}

#[tokio::test]
async fn every_file_is_served_packed_and_plain_and_only_once() {
    let folder = folder().await;
    for name in ojs_dashboard::file_names().into_iter().filter(|name| *name != "index.html") {
        let path = format!("{folder}{name}");
        let packed = get(&path, &[("accept-encoding", "br, gzip;q=0.5")]).await;
        assert_eq!(packed.status(), StatusCode::OK, "{path}");
        assert_eq!(packed.headers()["content-encoding"], "gzip", "{path}");
        assert_eq!(packed.headers()["content-security-policy"], ojs_dashboard::POLICY);
        assert_eq!(packed.headers()["x-content-type-options"], "nosniff");
        assert!(packed.headers()["cache-control"].to_str().unwrap().contains("immutable"), "{path}");
        let tag = packed.headers()["etag"].to_str().unwrap().to_owned();
        let plain = get(&path, &[("accept-encoding", "gzip;q=0")]).await;
        assert!(!plain.headers().contains_key("content-encoding"), "{path}");
        assert!(!text(plain).await.is_empty(), "{path}");
        let again = get(&path, &[("if-none-match", &tag)]).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{path}");
        assert!(text(again).await.is_empty(), "{path}");
    }
}

#[tokio::test]
async fn published_modules_import_files_and_not_bare_names() {
    let folder = folder().await;
    for name in ojs_dashboard::file_names().into_iter().filter(|name| name.ends_with(".mjs")) {
        let text = text(get(&format!("{folder}{name}"), &[]).await).await;
        for (_, rest) in text.match_indices("from\"").map(|(at, _)| text.split_at(at)) {
            assert!(rest.starts_with("from\"./"), "{name}: {}", &rest[..30.min(rest.len())]);
        }
    }
}

#[tokio::test]
async fn other_addresses_lead_to_the_page_also_behind_a_prefix() {
    for (asked, to) in [("/", "ui/"), ("/ui", "ui/"), ("/ui/jobs", "./"), ("/ui/jobs/1", "../")] {
        let response = get(asked, &[]).await;
        assert_eq!(response.status(), StatusCode::TEMPORARY_REDIRECT, "{asked}");
        assert_eq!(response.headers()["location"], to, "{asked}");
    }
    let old = get("/ui/a/0123456789abcdef/main.js", &[]).await;
    assert_eq!(old.status(), StatusCode::NOT_FOUND, "a file of another version is never taken for this one");
}

#[tokio::test]
async fn a_foreign_name_gets_nothing() {
    let request = Request::get("/ui/").header("host", "evil.example").body(Body::empty()).unwrap();
    let response = ojs_dashboard::router(Hosts::default(), None).unwrap().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert!(text(response).await.contains("--allow-host"));
}

#[tokio::test]
async fn the_page_may_ask_the_codec_server_and_nothing_else() {
    let policy = async |codec| {
        let request = Request::get("/ui/").header("host", "localhost").body(Body::empty()).unwrap();
        let response = ojs_dashboard::router(Hosts::default(), codec).unwrap().oneshot(request).await.unwrap();
        response.headers()["content-security-policy"].to_str().unwrap().to_owned()
    };
    assert_eq!(policy(None).await, ojs_dashboard::POLICY);
    let with = policy(Some("https://codec.example.com:8443/below?x=1")).await;
    assert!(with.contains("connect-src 'self' https://codec.example.com:8443;"), "{with}");
    for wrong in ["codec.example.com", "ftp://codec", "https://a@b", "https://*", "https://a;script-src", "javascript:1"] {
        let refused = ojs_dashboard::router(Hosts::default(), Some(wrong)).unwrap_err();
        assert!(refused.contains("http or https"), "{wrong}: {refused}");
    }
}
