//! `ratchet breakers …`

use ratchet_core::BreakerState;
use ratchet_store::model::BreakerRecord;

use super::{Session, read};
use crate::args::Breakers;
use crate::exit::Failure;
use crate::output::text::{duration, printable};
use crate::output::{Output, column, number};

pub(super) async fn run(session: &Session, command: Breakers) -> Result<(), Failure> {
    let breakers = session.ratchet.breakers();
    match command {
        Breakers::List => {
            let list = breakers.list().await?;
            let columns = [
                column("service", |record: &BreakerRecord, _: &_| record.service.clone()),
                column("state", |record, out| state(&record.state, out)),
                number("opens at", |record, _| {
                    format!("{} %", record.breaker.settings.failure_rate)
                }),
                number("of calls", |record, _| record.breaker.settings.window.to_string()),
                number("open for", |record, _| duration(record.breaker.settings.open_for)),
            ];
            session.out.list(&list, &columns, "no breaker has counted a call")
        }
        Breakers::Show { service } => {
            let record = breakers.get(&service).await?;
            let Some(record) = record else {
                let service = printable(&service);
                return Err(Failure::not_found(format!(
                    "no breaker of `{service}` has counted a call"
                )));
            };
            let settings = &record.breaker.settings;
            let text = format!(
                "{}\n  state      {}\n  opens      when {} % of the last {} calls fail, after at least {} calls\n  \
                 open for   {}, then {} trial calls",
                session.out.bold(&printable(&record.service)),
                state(&record.state, &session.out),
                settings.failure_rate,
                settings.window,
                settings.min_calls,
                duration(settings.open_for),
                settings.probes,
            );
            session.out.object(&record, &text)
        }
        Breakers::Open { service, duration: limit } => {
            let limit = limit.as_deref().map(read::duration).transpose()?;
            let until = limit.map_or_else(
                || "until it is closed".to_owned(),
                |limit| format!("for {}", duration(limit)),
            );
            if session.proceed(&format!("open the breaker of {service} {until}"), false)? {
                breakers.open(&service, limit).await?;
                eprintln!("the breaker of {} is open {until}", printable(&service));
            }
            Ok(())
        }
        Breakers::Close { service } => {
            if session.proceed(&format!("close the breaker of {service}"), false)? {
                breakers.close(&service).await?;
                eprintln!("the breaker of {} is closed", printable(&service));
            }
            Ok(())
        }
        Breakers::Set { service, failure_rate, window, min_calls, open_for, probes } => {
            let present = breakers.get(&service).await?;
            let mut settings = present.map(|it| it.breaker.settings).unwrap_or_default();
            let before = settings;
            settings.failure_rate = failure_rate.unwrap_or(settings.failure_rate);
            settings.window = window.unwrap_or(settings.window);
            settings.min_calls = min_calls.unwrap_or(settings.min_calls);
            settings.probes = probes.unwrap_or(settings.probes);
            if let Some(open_for) = open_for {
                settings.open_for = read::duration(&open_for)?;
            }
            if settings == before {
                return Err(Failure::usage("give a setting that differs from the present ones"));
            }
            if session.proceed(&format!("change the settings of breaker {service}"), false)? {
                breakers.set(&service, settings).await?;
                eprintln!("the breaker of {} has new settings", printable(&service));
            }
            Ok(())
        }
        Breakers::Reset { service } => {
            if session
                .proceed(&format!("remove the operator's settings of breaker {service}"), false)?
            {
                breakers.reset(&service).await?;
                eprintln!(
                    "the breaker of {} has the settings that programs declare",
                    printable(&service)
                );
            }
            Ok(())
        }
    }
}

fn state(state: &BreakerState, out: &Output) -> String {
    match state {
        BreakerState::Closed => "closed".to_owned(),
        BreakerState::Open { until: Some(until) } => {
            format!("open, trial calls {}", out.time(*until))
        }
        BreakerState::Open { until: None } => "open until it is closed".to_owned(),
        BreakerState::HalfOpen { good } => format!("half open, {good} trial calls succeeded"),
    }
}
