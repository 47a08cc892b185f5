//! No planted secret is on a page, in the API or in an export. A program of its own, because the other tests register all
//! jobs that they link.

#[path = "web/crawler.rs"]
mod crawler;
#[allow(dead_code, reason = "used by the other tests")]
#[path = "web/html.rs"]
mod html;
#[allow(dead_code, reason = "used by the other tests")]
#[path = "web/site.rs"]
mod site;

use std::sync::Arc;

use ratchet::{Filter, PageRequest, Ratchet};
use ratchet_conformance::planted_secrets;
use ratchet_memory::MemoryStore;
use ratchet_web::Access;

use crawler::crawl;
use site::Site;

/// Returns the addresses of all documents: what the pages link to, and every route that reads, for each job.
async fn addresses(ratchet: &Ratchet, site: &Site) -> Vec<String> {
    let crawled = crawl(site, "/", "").await;
    let base = "http://shop.example";
    let mut all: Vec<_> =
        crawled.iter().filter_map(|page| page.strip_prefix(base)).map(str::to_owned).collect();
    let page = PageRequest { before: None, limit: 1000 };
    let jobs = ratchet.jobs().list(&Filter::any(), page).await.expect("lists").jobs;
    let flow = jobs.iter().find_map(|job| job.spec.step.as_ref()?.group).expect("a flow");
    let reads = |method: &str, path: &str| method == "GET" && !path.ends_with("/live");
    for (_, path, ..) in ratchet_web::__private::routes()
        .into_iter()
        .filter(|(method, path, ..)| reads(method, path))
    {
        let path = path.replace("{flow}", &flow.to_string()).replace("{name}", "default");
        let query = |job: &str| {
            format!(
                "{}?name=default&queue=default&schedule=schedule-0&job={job}&flow={flow}&limit=1000",
                path.replace("{job}", job)
            )
        };
        if path.contains("{job}") {
            all.extend(jobs.iter().map(|job| query(&job.id.to_string())));
        } else {
            all.push(query(&jobs[0].id.to_string()));
        }
    }
    for format in ["csv", "ndjson"] {
        all.push(format!("/jobs/export?format={format}"));
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_05_no_planted_secret_is_on_a_page_in_the_api_or_in_an_export() {
    for keyring in [Some(planted_secrets::keyring()), None] {
        let ratchet = planted_secrets::runtime(Arc::new(MemoryStore::new()), keyring).await;
        let secrets = planted_secrets::play(&ratchet).await;
        let site = Site::new(&ratchet, Access::admin("ada"));
        let addresses = addresses(&ratchet, &site).await;
        assert!(addresses.len() > 500, "only {} addresses", addresses.len());
        let (mut found, mut everything) = (Vec::new(), String::new());
        for address in addresses {
            let reply = site.get(&address).await;
            assert!(reply.status.as_u16() < 500, "{address}: {}", reply.body);
            let shown = secrets.iter().filter(|secret| reply.body.contains(secret.as_str()));
            found.extend(shown.map(|secret| format!("{secret} at {address}")));
            everything.push_str(&reply.body);
        }
        assert!(found.is_empty(), "{found:#?}");
        // What is not secret is shown, so the search works.
        for expected in ["ada-7", "logs in with ***", "the password is ***", "got ***"] {
            assert!(everything.contains(expected), "`{expected}` is nowhere");
        }
    }
}
