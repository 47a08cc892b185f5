//! What the screen shows, and how keys change it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use jiff::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratchet_core::{Filter, JobId, JobState};

use super::data::Snapshot;

/// How many values a sparkline remembers.
const REMEMBERED: usize = 120;

/// A page of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    Queues,
    Jobs,
    Failures,
    Nodes,
}

impl Tab {
    pub(super) const ALL: [Self; 5] =
        [Self::Overview, Self::Queues, Self::Jobs, Self::Failures, Self::Nodes];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Queues => "queues",
            Self::Jobs => "jobs",
            Self::Failures => "failures",
            Self::Nodes => "nodes",
        }
    }
}

/// A change that an operator wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    RetryJob(JobId),
    CancelJob(JobId),
    PauseJob(JobId),
    ResumeJob(JobId),
    PauseQueue(String),
    ResumeQueue(String),
    RetryGroup { name: String, fingerprint: String },
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RetryJob(id) => write!(f, "retry job {id}"),
            Self::CancelJob(id) => write!(f, "cancel job {id}"),
            Self::PauseJob(id) => write!(f, "pause job {id}"),
            Self::ResumeJob(id) => write!(f, "resume job {id}"),
            Self::PauseQueue(queue) => write!(f, "pause queue {queue}"),
            Self::ResumeQueue(queue) => write!(f, "resume queue {queue}"),
            Self::RetryGroup { name, fingerprint } => {
                write!(f, "retry all failed jobs of {name} with fingerprint {fingerprint}")
            }
        }
    }
}

/// What a key causes outside of the screen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    Refresh,
    Quit,
    Act(Action),
    Explain(JobId),
}

/// What has the keyboard.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// The list.
    #[default]
    List,
    /// The line in which a filter is typed.
    Filter(String),
    /// The question whether to apply a change.
    Confirm(Action),
    /// A text over the list.
    Text(String),
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) target: String,
    pub(super) production: bool,
    pub(super) tab: Tab,
    pub(super) filter: Filter,
    pub(super) mode: Mode,
    pub(super) selected: usize,
    pub(super) snapshot: Snapshot,
    /// A line about the last change, and whether it is an error.
    pub(super) message: Option<(String, bool)>,
    /// The number of succeeded jobs per second, for each refresh.
    pub(super) rates: VecDeque<u64>,
    succeeded: Option<(Timestamp, u64)>,
}

impl State {
    pub(super) fn new(target: String, production: bool) -> Self {
        Self {
            target,
            production,
            tab: Tab::Overview,
            filter: Filter::any(),
            mode: Mode::List,
            selected: 0,
            snapshot: Snapshot::empty(),
            message: None,
            rates: VecDeque::new(),
            succeeded: None,
        }
    }

    /// Shows what was read. The selection stays on its row if the row is still there.
    pub(super) fn show(&mut self, snapshot: Snapshot) {
        let before = self.key_of(self.selected);
        self.snapshot = snapshot;
        let moved = before
            .and_then(|key| (0..self.rows()).find(|row| self.key_of(*row) == Some(key.clone())));
        self.selected = moved.unwrap_or(self.selected).min(self.rows().saturating_sub(1));
        self.measure();
    }

    /// Adds the rate since the last refresh.
    fn measure(&mut self) {
        let Some(overview) = &self.snapshot.overview else { return };
        let (now, total) = (overview.now, overview.count(JobState::Succeeded));
        if let Some((then, before)) = self.succeeded {
            let seconds = now.duration_since(then).as_secs_f64();
            if seconds <= 0.0 {
                return;
            }
            // A purge makes the number smaller.
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss
            )]
            self.rates.push_back((total.saturating_sub(before) as f64 / seconds).round() as u64);
            while self.rates.len() > REMEMBERED {
                self.rates.pop_front();
            }
        }
        self.succeeded = Some((now, total));
    }

    pub(super) fn say(&mut self, text: String) {
        self.message = Some((text, false));
    }

    pub(super) fn complain(&mut self, text: String) {
        self.message = Some((text, true));
    }

    pub(super) fn open(&mut self, text: String) {
        self.mode = Mode::Text(text);
    }

    /// Returns the number of rows of the list.
    pub(super) fn rows(&self) -> usize {
        let overview = self.snapshot.overview.as_ref();
        match self.tab {
            Tab::Overview => self.snapshot.findings.len(),
            Tab::Queues => overview.map_or(0, |overview| overview.queues.len()),
            Tab::Jobs => self.snapshot.jobs.len(),
            Tab::Failures => self.snapshot.failures.len(),
            Tab::Nodes => overview.map_or(0, |overview| overview.nodes.len()),
        }
    }

    /// Returns what identifies a row.
    fn key_of(&self, row: usize) -> Option<String> {
        let overview = self.snapshot.overview.as_ref();
        match self.tab {
            Tab::Overview => self.snapshot.findings.get(row).map(|finding| finding.problem.clone()),
            Tab::Queues => overview?.queues.get(row).map(|queue| queue.queue.clone()),
            Tab::Jobs => self.snapshot.jobs.get(row).map(|job| job.id.to_string()),
            Tab::Failures => {
                let group = self.snapshot.failures.get(row)?;
                Some(format!("{} {}", group.job_name, group.fingerprint))
            }
            Tab::Nodes => overview?.nodes.get(row).map(|node| node.info.id.to_string()),
        }
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Effect {
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Effect::Quit;
        }
        match std::mem::take(&mut self.mode) {
            Mode::List => self.press_in_list(key.code),
            Mode::Filter(text) => self.press_in_filter(text, key.code),
            Mode::Confirm(action) => match key.code {
                KeyCode::Char('y') => Effect::Act(action),
                _ => {
                    self.say("nothing was changed".to_owned());
                    Effect::None
                }
            },
            Mode::Text(_) => Effect::None,
        }
    }

    fn press_in_list(&mut self, code: KeyCode) -> Effect {
        let last = self.rows().saturating_sub(1);
        self.message = None;
        match code {
            KeyCode::Char('q') => return Effect::Quit,
            KeyCode::Char(digit @ '1'..='5') => return self.switch(digit as usize - '1' as usize),
            KeyCode::Tab | KeyCode::Right => {
                return self.switch((self.place() + 1) % Tab::ALL.len());
            }
            KeyCode::BackTab | KeyCode::Left => {
                return self.switch((self.place() + Tab::ALL.len() - 1) % Tab::ALL.len());
            }
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::PageDown => self.selected = (self.selected + 20).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(20),
            KeyCode::Home => self.selected = 0,
            KeyCode::End => self.selected = last,
            KeyCode::Char('/') => self.mode = Mode::Filter(self.filter.to_string()),
            KeyCode::Char('?') => self.mode = Mode::Text(HELP.to_owned()),
            KeyCode::Enter => return self.enter(),
            KeyCode::Char(letter @ ('R' | 'C' | 'P')) => match self.action(letter) {
                Some(action) => self.mode = Mode::Confirm(action),
                None => self.complain(format!("{letter} does nothing here")),
            },
            _ => {}
        }
        Effect::None
    }

    fn press_in_filter(&mut self, mut text: String, code: KeyCode) -> Effect {
        match code {
            KeyCode::Esc => return Effect::None,
            KeyCode::Enter => match Filter::parse(&text, self.snapshot.now) {
                Ok(filter) => {
                    self.filter = filter;
                    self.selected = 0;
                    return self.switch(2);
                }
                Err(error) => self.complain(error.to_string()),
            },
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(letter) => text.push(letter),
            _ => {}
        }
        self.mode = Mode::Filter(text);
        Effect::None
    }

    fn place(&self) -> usize {
        Tab::ALL.iter().position(|tab| *tab == self.tab).unwrap_or(0)
    }

    fn switch(&mut self, place: usize) -> Effect {
        self.tab = Tab::ALL[place];
        self.selected = 0;
        Effect::Refresh
    }

    /// Explains a job, or lists the jobs of a queue, of a failure group or of all.
    fn enter(&mut self) -> Effect {
        let filter = match self.tab {
            Tab::Jobs => {
                let job = self.snapshot.jobs.get(self.selected);
                return job.map_or(Effect::None, |job| Effect::Explain(job.id));
            }
            Tab::Queues => self.key_of(self.selected).map(|queue| Filter::any().queue(queue)),
            Tab::Failures => self.snapshot.failures.get(self.selected).map(|group| {
                let filter = Filter::any().name(&group.job_name).fingerprint(&group.fingerprint);
                filter.state(JobState::Failed)
            }),
            Tab::Overview => {
                if let Some(finding) = self.snapshot.findings.get(self.selected) {
                    self.mode = Mode::Text(format!(
                        "{}\n\n{}\n\n{}",
                        finding.id, finding.problem, finding.remedy
                    ));
                }
                None
            }
            Tab::Nodes => None,
        };
        let Some(filter) = filter else { return Effect::None };
        self.filter = filter;
        self.switch(2)
    }

    /// Returns what an upper-case letter does to the selected row.
    fn action(&self, letter: char) -> Option<Action> {
        match self.tab {
            Tab::Jobs => {
                let job = self.snapshot.jobs.get(self.selected)?;
                Some(match letter {
                    'R' => Action::RetryJob(job.id),
                    'C' => Action::CancelJob(job.id),
                    _ if job.state == JobState::Paused => Action::ResumeJob(job.id),
                    _ => Action::PauseJob(job.id),
                })
            }
            Tab::Queues if letter == 'P' => {
                let queue = self.snapshot.overview.as_ref()?.queues.get(self.selected)?;
                let paused = queue.rules.as_ref().is_some_and(|record| record.rules.paused);
                let name = queue.queue.clone();
                Some(if paused { Action::ResumeQueue(name) } else { Action::PauseQueue(name) })
            }
            Tab::Failures if letter == 'R' => {
                let group = self.snapshot.failures.get(self.selected)?;
                let (name, fingerprint) = (group.job_name.clone(), group.fingerprint.clone());
                Some(Action::RetryGroup { name, fingerprint })
            }
            _ => None,
        }
    }

    /// Returns the number of jobs by state, over all queues.
    pub(super) fn totals(&self) -> BTreeMap<JobState, u64> {
        let overview = self.snapshot.overview.as_ref();
        let count = |state| (state, overview.map_or(0, |overview| overview.count(state)));
        JobState::ALL.map(count).into_iter().collect()
    }
}

/// The text of `?`.
pub(super) const HELP: &str = "\
Look
  1 to 5, Tab     other page
  j k, arrows     select a row
  Enter           explain a job, or list the jobs of a queue or failure group
  /               list jobs that match a filter, such as queue:mail state:failed
  q               quit

Act (each asks before it changes anything)
  R               retry the job, or all jobs of the failure group
  C               cancel the job
  P               pause or resume the job or queue";
