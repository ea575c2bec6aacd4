//! How PostgreSQL finds the rows: by an index and in the order that is asked for, never by a scan of the ledger.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, Row};

use super::{Bench, execute, number, until};
use crate::ledger::EventLedger;
use crate::postgres::{PostgresOptions, backlog, read, reading, session, statements, writing};

/// A ledger of 50,000 entries in 10,000 streams of 640 accounts, with as many keys and marks as streams; and one
/// account with a single long stream and many marks.
const LOADED: &str = "\
    INSERT INTO tf_account SELECT n, 'account-' || n, n % 64 FROM generate_series(1, 640) n; \
    INSERT INTO tf_stream SELECT n, 1 + n % 640, 'conversation/c' || n FROM generate_series(1, 10000) n; \
    INSERT INTO tf_stream SELECT 30000 + n, 1 + n % 640, 'effect/' || n FROM generate_series(1, 5000) n; \
    INSERT INTO tf_entry (place, account, stream, version, recorded_at, schema, id, kind, commitment, chain, facts) \
        SELECT ((s + 1) % 64)::bigint << 40 | ((v - 1) * 160 + s / 64 + 1), 1 + s % 640, s, v, 1, 1, \
            decode(md5(s || '/' || v), 'hex'), 'case.event', sha256('a'), sha256('b'), \
            decode(repeat('20', 400), 'hex') \
        FROM generate_series(1, 5) v, generate_series(1, 10000) s; \
    INSERT INTO tf_key SELECT 1 + s % 640, s, 1, 'key-' || s, decode(md5(s || '/1'), 'hex'), sha256('c') \
        FROM generate_series(1, 10000) s; \
    INSERT INTO tf_mark SELECT 1 + s % 640, s, s, (s + 1) % 64, 'card.open', 'key-' || s \
        FROM generate_series(1, 10000) s; \
    INSERT INTO tf_mark SELECT 1 + s % 640, s, s, (s + 1) % 64, 'effect', 'd' || s % 3 || '/' || s \
        FROM generate_series(1, 6000) s; \
    INSERT INTO tf_mark SELECT 1 + s % 640, s, s, (s + 1) % 64, 'parked', 'd' || s % 2 || '/' || s \
        FROM generate_series(1, 6000) s; \
    INSERT INTO tf_account VALUES (1000, 'busy', 7); \
    INSERT INTO tf_stream VALUES (20000, 1000, 'conversation/long'); \
    INSERT INTO tf_entry (place, account, stream, version, recorded_at, schema, id, kind, commitment, chain, facts) \
        SELECT 7::bigint << 40 | 10000 + v, 1000, 20000, v, 1, 1, decode(md5('long/' || v), 'hex'), 'case.event', \
            sha256('a'), sha256('b'), decode(repeat('20', 400), 'hex') \
        FROM generate_series(1, 5000) v; \
    INSERT INTO tf_mark SELECT 1000, 20000, 0, 7, 'membership', 'key-' || n FROM generate_series(1, 5000) n; \
    ANALYZE";

/// The tables that grow with what happens.
const GROWING: [&str; 5] = ["tf_account", "tf_stream", "tf_entry", "tf_key", "tf_mark"];

/// How many rows a page of these reads has.
const PAGE: u64 = 100;

/// The reads, with what a reader asks for: a page out of a long stream, of a partition, of many marks, and the few marks
/// of some partitions that are due.
const READS: [(&str, &[&str]); 13] = [
    (read::READ_STREAM, &["busy", "conversation/long", "2000", "100"]),
    (read::READ_STREAM_BACK, &["busy", "conversation/long", "4000", "100"]),
    (read::READ_PARTITION, &["8796093022209", "9895604649983", "100"]),
    (read::NAMES, &["{8,72,136,20000}"]),
    (read::READ_PARTITION_OF_ACCOUNT, &["8796093022209", "9895604649983", "100", "account-8"]),
    (read::FIND_KEY, &["account-8", "key-7"]),
    (read::ACCOUNT_OF_EFFECT, &["effect/7"]),
    (read::MARKS_OF_ACCOUNT, &["membership", "key-2", "key.", "100", "100", "busy"]),
    (read::SWEEP, &["card.open", "", "~", "100", "100", "", "", "{1,2,3,4,5,6,7,8}"]),
    (backlog::OF_EFFECTS, &["30", "10"]),
    (backlog::OF_PARKED, &["30", "10"]),
    (read::HEAD, &["8"]),
    (read::OWNER, &["8"]),
];

/// A session of the writer, as far as plans go.
async fn writing_session(bench: &Bench) -> PgConnection {
    connect(writing(&without_jit(bench), &PostgresOptions::default())).await
}

/// A session of a reader.
async fn reading_session(bench: &Bench) -> PgConnection {
    connect(reading(&without_jit(bench))).await
}

fn without_jit(bench: &Bench) -> PgConnectOptions {
    let connecting: PgConnectOptions = bench.database.url().parse().expect("a URL");
    connecting.options([("jit", "off")])
}

async fn connect(options: PgConnectOptions) -> PgConnection {
    options.disable_statement_logging().connect().await.expect("connection")
}

async fn explain(
    connection: &mut PgConnection,
    how: &str,
    statement: &str,
    arguments: &[&str],
) -> String {
    let arguments: Vec<_> = arguments.iter().map(|text| format!("'{text}'")).collect();
    let arguments = match arguments.join(", ") {
        none if none.is_empty() => none,
        some => format!("({some})"),
    };
    execute(connection, &format!("PREPARE explained AS {statement}")).await;
    let explain = AssertSqlSafe(format!("EXPLAIN {how} EXECUTE explained {arguments}"));
    let rows = sqlx::raw_sql(explain).fetch_all(&mut *connection).await.expect("explained");
    execute(connection, "DEALLOCATE explained").await;
    rows.iter().map(|row| row.get::<String, _>(0)).collect::<Vec<_>>().join("\n")
}

/// How many arguments a statement has.
fn arity(statement: &str) -> usize {
    (1..).take_while(|number| statement.contains(&format!("${number}"))).count()
}

fn assert_no_scan(statement: &str, plan: &str) {
    for table in GROWING {
        assert!(!plan.contains(&format!("Seq Scan on {table} ")), "{statement}\n{plan}");
    }
}

/// How many rows a line of a plan says that it gave or threw away, in all its rounds.
fn rows_of(line: &str) -> u64 {
    let value = |name: &str| {
        let rest = line.split(name).nth(1)?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        rest[..end].parse::<f64>().ok()
    };
    let rows = value("actual rows=").or_else(|| value("Rows Removed by Filter: ")).unwrap_or(0.0);
    let rows = rows * value("loops=").unwrap_or(1.0);
    // A plan counts in tenths at most.
    format!("{rows:.0}").parse().unwrap_or(u64::MAX)
}

#[tokio::test]
async fn a_read_touches_what_it_answers_and_in_its_order() {
    let bench = Bench::new().await;
    bench.execute(LOADED).await;
    let all: Vec<_> = READS.iter().map(|(statement, _)| *statement).collect();
    assert_eq!(all, read::STATEMENTS, "every statement is here");
    let mut connection = reading_session(&bench).await;
    // A server plans a statement anew the first few times, and then perhaps for all times.
    for mode in ["force_custom_plan", "force_generic_plan"] {
        execute(&mut connection, &format!("SET plan_cache_mode = {mode}")).await;
        for (statement, arguments) in READS {
            let how = "(ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)";
            let plan = explain(&mut connection, how, statement, arguments).await;
            assert_no_scan(statement, &plan);
            // A read of one account in a partition passes over its neighbours: 50,000 entries lie in 64.
            let most = if statement == read::READ_PARTITION_OF_ACCOUNT { 800 } else { PAGE };
            for line in plan.lines() {
                assert!(rows_of(line) <= most, "{mode}: {statement}\n{plan}");
            }
            // What is sorted is a page that was cut before, or what is due of a sweep.
            let cut = plan.find("Sort").is_none_or(|sort| plan[sort..].contains("Limit"));
            assert!(cut || statement == read::SWEEP, "{mode}: {statement}\n{plan}");
        }
    }
}

#[tokio::test]
async fn the_writer_scans_no_table_that_grows_and_needs_no_statistics() {
    let bench = Bench::new().await;
    let append = statements::APPENDS.last().expect("one for all tables");
    let arguments = vec!["{}"; arity(append)];
    // The 64 partitions are looked at one way or another.
    let plan = async |connection: &mut PgConnection| {
        let plan = explain(connection, "(COSTS OFF)", append, &arguments).await;
        let grows = |line: &&str| GROWING.iter().any(|table| line.contains(table));
        plan.lines().filter(grows).map(str::to_owned).collect::<Vec<_>>()
    };
    let young = plan(&mut writing_session(&bench).await).await;
    bench.execute(LOADED).await;
    let mut connection = writing_session(&bench).await;
    let grown = plan(&mut connection).await;
    assert_eq!(young, grown, "the plan that a session begins with is the right one later on");
    assert!(young.iter().any(|line| line.contains("tf_mark_pkey")), "{young:?}");
    let all = [
        append,
        statements::LOOK_UP_STREAMS,
        statements::LOOK_UP_KEYS,
        statements::STILL_OWNED,
        session::RAISE,
        session::FIND,
    ];
    for statement in all {
        let plan = explain(&mut connection, "", statement, &vec!["{}"; arity(statement)]).await;
        assert_no_scan(statement, &plan);
        assert!(!plan.contains("Hash") && !plan.contains("Merge Join"), "{statement}\n{plan}");
        // A scan of a whole index is a scan all the same.
        for (index, line) in plan.lines().enumerate() {
            let condition = plan.lines().nth(index + 1).is_some_and(|line| line.contains("Cond:"));
            let grows = GROWING.iter().any(|table| line.contains(&format!(" on {table} ")));
            assert!(!line.contains("Index") || !grows || condition, "{statement}\n{plan}");
        }
    }
}

#[tokio::test]
async fn handing_out_positions_leaves_no_trail_in_an_index() {
    const BATCHES: u64 = 100;
    let bench = Bench::new().await;
    for expected in 0..BATCHES {
        bench.commit(bench.append(expected, 1)).await.expect("appended");
    }
    // What a session counted is known when it has ended.
    bench.ledger.close().await;
    let mut foreign = bench.foreign().await;
    let counts = |what: &str| {
        format!("SELECT {what} FROM pg_stat_user_tables WHERE relname = 'tf_partition'")
    };
    let all = counts("n_tup_upd");
    let counted = async || number(&mut foreign, &all).await >= BATCHES.cast_signed();
    until("the counts", counted).await;
    let elsewhere = bench.number(&counts("n_tup_upd - n_tup_hot_upd")).await;
    assert!(elsewhere <= 5, "{elsewhere} went to another page, with a new entry in the index");
}
