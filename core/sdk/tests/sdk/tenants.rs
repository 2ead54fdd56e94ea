//! Tenants against the engine in this process: clients of one, and what a handler's jobs inherit.
#![cfg(feature = "embedded")]
use ojs::{Client, JobContext, JobRequest, Worker};
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

#[tokio::test]
async fn a_client_of_a_tenant_sees_and_makes_what_belongs_to_it() {
    let client = Client::connect("memory:tenants-of-a-client").await.unwrap();
    let acme = Client::builder().url("memory:tenants-of-a-client").tenant("acme").connect().await.unwrap();
    let job = acme.enqueue("mail", ()).await.unwrap();
    assert_eq!(job.tenant().as_deref(), Some("acme"));
    assert_eq!(client.of_tenant("acme").unwrap().get_job(&job.id).await.unwrap().id, job.id);
    assert!(client.of_tenant("globex").unwrap().get_job(&job.id).await.unwrap_err().is_not_found());
    assert_eq!(client.enqueue("mail", ()).await.unwrap().tenant(), None);
    let named = client.enqueue_request(JobRequest::new("mail", ()).tenant("globex")).await.unwrap().unwrap();
    assert_eq!(named.tenant().as_deref(), Some("globex"));
    assert!(acme.enqueue_request(JobRequest::new("mail", ()).tenant("globex")).await.is_err(), "of another tenant");
    for wrong in ["", "a b", "_other"] {
        assert!(client.of_tenant(wrong).unwrap_err().to_string().contains("tenant must be letters"));
        assert!(Client::builder().url("memory:").tenant(wrong).connect().await.is_err());
    }
}

#[tokio::test]
async fn what_a_handler_enqueues_belongs_to_the_tenant_of_its_job() {
    let client = Client::connect("memory:").await.unwrap();
    let worker = Worker::for_client(&client);
    let (done, mut made) = unbounded_channel();
    worker
        .register("parent", move |ctx: JobContext| {
            let done = done.clone();
            async move {
                let child = ctx.client()?.enqueue_request(JobRequest::new("child", ()).queue("later")).await?;
                Ok(done.send((ctx.tenant(), child.unwrap().id))?)
            }
        })
        .unwrap();
    let handle = worker.start();
    for tenant in [Some("acme"), None] {
        let request = JobRequest::new("parent", ());
        let request = match tenant {
            Some(tenant) => request.tenant(tenant),
            None => request,
        };
        client.enqueue_request(request).await.unwrap();
        let (seen, child) = made.recv().await.unwrap();
        assert_eq!(seen.as_deref(), tenant);
        assert_eq!(client.get_job(&child).await.unwrap().tenant().as_deref(), tenant);
    }
    handle.shutdown(None).await;
}

#[tokio::test]
async fn operators_direct_tenants() {
    let client = Client::connect("memory:").await.unwrap();
    client.put_tenant("acme", &json!({"name": "Acme Ltd.", "limits": {"max_concurrency": 10}})).await.unwrap();
    client.set_tenant_limits("acme", &json!({"max_queue_depth": 1})).await.unwrap();
    let acme = client.of_tenant("acme").unwrap();
    let job = acme.enqueue("mail", ()).await.unwrap();
    assert!(acme.enqueue("mail", ()).await.unwrap_err().to_string().contains("max_queue_depth"));
    assert_eq!(client.tenant_stats("acme").await.unwrap()["total_jobs"], 1);
    assert_eq!(client.tenant_jobs("acme", &ojs::TenantJobs::default()).await.unwrap().jobs[0].id, job.id);
    assert_eq!(client.suspend_tenant("acme").await.unwrap()["status"], "suspended");
    assert_eq!(client.resume_tenant("acme").await.unwrap()["status"], "active");
    assert!(acme.list_tenants(&ojs::ListTenants::default()).await.is_err(), "for operators only");
    acme.cancel_job(&job.id).await.unwrap();
    client.delete_tenant("acme").await.unwrap();
    assert!(client.get_tenant("acme").await.is_err());
}
