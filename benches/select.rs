//! One selection: bytes in, bytes out, on 1,024 different results in turn, beside the same decision by hand.
//!
//! `cargo bench --bench select`. Compare figures of one run only.

mod peers;
mod shapes;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mcp_select::{Engine, Request, Selection, Status};
use std::hint::black_box;

const POLICY: &str = "version = 1\nextends = \"sep-2200\"\n[audience.model]\nmeta.allow = [\"durationMs\"]\n";

fn ours<'a>(engine: &Engine, request: &Request, bytes: &'a [u8], selection: &'a mut Selection) -> &'a [u8] {
    match engine.select(request, bytes, selection).unwrap() {
        Status::Changed => selection.json().unwrap(),
        _ => bytes,
    }
}

/// A result by meaning: a tree sorts the members of the JSON text that it writes.
fn normal(json: &[u8]) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_slice(json).unwrap();
    for block in value["content"].as_array_mut().into_iter().flatten() {
        if let Some(inside) =
            block["text"].as_str().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok())
        {
            block["text"] = inside;
        }
    }
    value
}

fn bench(criterion: &mut Criterion) {
    let engine = Engine::from_toml(POLICY.as_bytes()).unwrap();
    let request = Request::new("server", "tool", "model");
    let mut selection = Selection::new();
    let mut out = Vec::new();
    let mut group = criterion.benchmark_group("select");
    for shape in shapes::SHAPES {
        let results = shapes::results(shape, 2048, 1024);
        // All three decide alike, or the figures mean nothing.
        for bytes in &results {
            let value = normal(ours(&engine, &request, bytes, &mut selection));
            assert_eq!(value, normal(&peers::value_code(bytes)));
            peers::raw_code(bytes, &mut out);
            assert_eq!(value, normal(&out));
        }
        group.throughput(Throughput::Bytes(2048));
        let mut turn = results.iter().cycle();
        group.bench_function(BenchmarkId::new("mcp-select", shape), |b| {
            b.iter(|| black_box(ours(&engine, &request, turn.next().unwrap(), &mut selection).len()));
        });
        group.bench_function(BenchmarkId::new("serde_json RawValue", shape), |b| {
            b.iter(|| {
                peers::raw_code(turn.next().unwrap(), &mut out);
                black_box(out.len())
            });
        });
        group.bench_function(BenchmarkId::new("serde_json Value", shape), |b| {
            b.iter(|| black_box(peers::value_code(turn.next().unwrap()).len()));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_millis(900));
    targets = bench
}
criterion_main!(benches);
