//! The archive: a second file beside the file of the jobs, with the same schema.
//!
//! In WAL mode, a commit over two files is not atomic: a crash can keep one half. Therefore a job is first copied and the
//! copy committed, and then deleted where it was. Until that has happened, the copy is marked, and readers prefer the
//! live row. A move that was interrupted is repeated, and replaces the copy.

mod erasing;
mod moving;

pub(crate) use moving::Copied;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratchet_store::model::{
    ArchiveStatus, ArchivedJobs, AttemptRecord, CommandError, Filter, JobId, JobRecord, LogLine,
    Page, PageRequest,
};
use ratchet_store::rules::search::{Place, Source};
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Row as _, SqliteConnection};
use tokio::sync::Mutex;

use crate::SqliteStore;
use crate::error::Fault;
use crate::file::Files;
use crate::migrate::migrate;
use crate::query::Look;
use crate::sql;
use crate::value::{bytes, state, time};

/// The archive file of a store. It is opened when it is needed, and created by the first job that is archived.
#[derive(Debug)]
pub(crate) struct Archive {
    path: PathBuf,
    connect: SqliteConnectOptions,
    /// The path of the file of the jobs.
    live: PathBuf,
    open: Mutex<Option<Opened>>,
}

/// A connection to the archive, with the file of the jobs attached as `live`. Names without a schema are of the archive.
#[derive(Debug)]
struct Opened {
    conn: SqliteConnection,
    files: Files,
}

/// Returns the path of the archive of a file: `jobs-archive.db` for `jobs.db`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push("-archive");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

impl Archive {
    pub(crate) fn new(live: &Path, connect: &SqliteConnectOptions) -> Self {
        let path = beside(live);
        let connect = connect.clone().filename(&path).create_if_missing(true);
        Self { path, connect, live: live.to_owned(), open: Mutex::default() }
    }

    fn fault(&self, error: &sqlx::Error) -> StoreError {
        Fault::new(&self.path, error).into()
    }

    /// Opens the file if it is not open.
    async fn ensure<'a>(
        &self,
        store: &SqliteStore,
        open: &'a mut Option<Opened>,
    ) -> Result<&'a mut Opened, StoreError> {
        if open.is_none() {
            let mut conn = self.connect.connect().await.map_err(|error| self.fault(&error))?;
            migrate(&mut conn, &self.path, store.shared.clock.now()).await?;
            let live = self.live.to_string_lossy().into_owned();
            let attached = sqlx::query("ATTACH DATABASE ?1 AS live").bind(live);
            attached.execute(&mut conn).await.map_err(|error| self.fault(&error))?;
            *open = Some(Opened { conn, files: Files::opened(&self.path) });
        }
        open.as_mut().ok_or_else(|| {
            StoreError::new(StoreErrorKind::Unavailable, "the archive cannot be opened")
        })
    }

    /// Closes the file, when no handle of the store is left.
    pub(crate) async fn close(&self) {
        if let Some(opened) = self.open.lock().await.take() {
            let _ = opened.conn.close().await;
        }
    }
}

/// Reads from the archive. Returns the default if there is none.
macro_rules! read_archive {
    ($store:expr, |$look:ident| $read:expr) => {{
        let store: &SqliteStore = $store;
        let archive = Arc::clone(&store.shared.archive);
        let mut open = archive.open.lock().await;
        if open.is_none() && !archive.path.exists() {
            return Ok(Default::default());
        }
        let opened = archive.ensure(store, &mut open).await?;
        let fault = |error: sqlx::Error| archive.fault(&error);
        let mut snapshot = opened.conn.begin().await.map_err(fault)?;
        let mut $look = store.look(&mut snapshot);
        // A damaged row stays where it is: nothing in the archive is claimed.
        let read: Result<_, sqlx::Error> = $read.await;
        let ended = snapshot.rollback().await;
        let read = read.map_err(fault)?;
        ended.map_err(fault)?;
        Ok(read)
    }};
}

impl SqliteStore {
    pub(crate) async fn get_archived(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        read_archive!(self, |look| look.archived_job(id))
    }

    pub(crate) async fn list_archived(
        &self,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Page, StoreError> {
        // To the statements and rules of a listing, the jobs of this file are the live ones.
        let filter = filter.clone().archived(ArchivedJobs::Exclude);
        let found: Result<Page, StoreError> = self.archived_page(&filter, page).await;
        // A store without an archive has examined no job.
        let source = Source::of(&filter, Place::Archive, 0);
        let examined = source.leaves_conditions(&filter).then_some(0);
        found.map(|page| Page { examined: page.examined.or(examined), ..page })
    }

    async fn archived_page(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        read_archive!(self, |look| look.archived_page(filter, page))
    }

    pub(crate) async fn archived_attempts(
        &self,
        id: JobId,
    ) -> Result<Vec<AttemptRecord>, StoreError> {
        read_archive!(self, |look| look.attempts(id))
    }

    pub(crate) async fn archived_logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        read_archive!(self, |look| look.logs(id))
    }

    pub(crate) async fn describe_archive(&self) -> Result<ArchiveStatus, StoreError> {
        let mut status = self.archive_contents().await?;
        let place = self.shared.archive.path.display().to_string();
        status.place = status.bytes.is_some().then_some(place);
        Ok(status)
    }

    async fn archive_contents(&self) -> Result<ArchiveStatus, StoreError> {
        read_archive!(self, |look| look.archive_status())
    }

    /// Replaces the error about a job that does not exist, if it is archived.
    pub(crate) async fn refused(&self, error: CommandError) -> CommandError {
        let CommandError::NotFound(job) = error else { return error };
        match self.get_archived(job).await {
            Ok(found) => match found.and_then(|job| job.archived_at) {
                Some(at) => CommandError::Archived { job, at },
                None => CommandError::NotFound(job),
            },
            Err(error) => error.into(),
        }
    }
}

impl Look<'_> {
    async fn archived_job(&mut self, id: JobId) -> Result<Option<JobRecord>, sqlx::Error> {
        let Some(row) = self.get(id).await? else { return Ok(None) };
        self.completed(row.job).await.map(Some)
    }

    async fn archived_page(
        &mut self,
        filter: &Filter,
        request: PageRequest,
    ) -> Result<Page, sqlx::Error> {
        let moving = sqlx::query(sql::archive::LIST_ARCHIVING).fetch_all(&mut *self.conn).await?;
        let moving: Vec<Vec<u8>> =
            moving.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let mut page = self.list(Place::Archive, filter, request).await?;
        page.jobs.retain(|job| !moving.contains(&bytes(job.id.uuid())));
        for job in &mut page.jobs {
            *job = self.completed(job.clone()).await?;
        }
        Ok(page)
    }

    /// Returns the record of a job as that of an archived job.
    async fn completed(&mut self, mut job: JobRecord) -> Result<JobRecord, sqlx::Error> {
        let at = sqlx::query(sql::archive::GET_ARCHIVED_AT).bind(bytes(job.id.uuid()));
        let at = at.fetch_optional(&mut *self.conn).await?;
        let at = at.map_or(Ok(self.now), |row| row.try_get(0))?;
        job.archived_at = Some(time(at)?);
        // Its place in a graph is gone.
        job.wait = None;
        job.root_cause = None;
        Ok(job)
    }

    async fn archive_status(&mut self) -> Result<ArchiveStatus, sqlx::Error> {
        let mut status = ArchiveStatus::default();
        status.counts = self.counts().await?;
        for row in sqlx::query(sql::archive::GET_BOUNDS).fetch_all(&mut *self.conn).await? {
            let state = state(row.try_get("state")?)?;
            let bound = |name: &str| row.try_get::<Option<i64>, _>(name)?.map(time).transpose();
            status.oldest.extend(bound("oldest")?.map(|at| (state, at)));
            status.newest.extend(bound("newest")?.map(|at| (state, at)));
        }
        let page = self.pragma("PRAGMA main.page_size").await?;
        status.bytes = Some(self.pragma("PRAGMA main.page_count").await?.saturating_mul(page));
        Ok(status)
    }
}
