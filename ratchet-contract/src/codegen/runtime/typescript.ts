/** A job that can be enqueued. */
export interface JobType<Args, Output> {
  readonly name: string;
  readonly version: number;
  readonly queue: string;
  /** Fills in the template of the key. Without it, the key must be passed. */
  readonly idempotencyKey?: (args: Args) => string;
  readonly businessKey?: (args: Args) => string;
  /** Never set. Carries the type of the output. */
  readonly output?: Output;
}

export interface EnqueueOptions {
  /** A repeat with the same key and arguments returns the id of the first job. */
  idempotencyKey?: string;
  /** Another queue than that of the job. */
  queue?: string;
  /** Only over HTTP: the delay, such as "30m". */
  delay?: string;
  /** Only over HTTP: the reason, for the audit trail. */
  reason?: string;
}

/** A job as the API shows it. */
export interface JobRecord<Output> {
  id: string;
  state: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "PAUSED" | "CANCELED";
  spec: { name: string; queue: string; version: number };
  /** Null until the job has succeeded. Absent if the token does not allow to see arguments. */
  output?: Output | null;
}

/** The answer of the API to a request that it refuses. */
export class RatchetError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Where the mistake in the arguments is, such as "$.order.lines[2].price". */
    readonly path?: string,
  ) {
    super(message);
    this.name = "RatchetError";
  }
}

export interface ClientOptions {
  /** The address of the dashboard, such as "https://jobs.example.com". */
  url: string;
  /** The token of `ratchet token`. */
  token?: string;
  headers?: Record<string, string>;
  fetch?: typeof globalThis.fetch;
}

/** Enqueues and reads jobs over HTTP. */
export class Client {
  constructor(private readonly options: ClientOptions) {}

  /** Enqueues a job and returns its id. */
  async enqueue<Args, Output>(
    job: JobType<Args, Output>,
    args: NoInfer<Args>,
    options: EnqueueOptions = {},
  ): Promise<string> {
    const body = encode({
      name: job.name,
      arguments: args,
      key: options.idempotencyKey,
      in_queue: options.queue,
      delay: options.delay,
      reason: options.reason,
    });
    const answer = await this.request("POST", "api/v1/jobs/enqueue", body);
    return (answer as { job: string }).job;
  }

  /** Reads a job. */
  async job<Args, Output>(_job: JobType<Args, Output>, id: string): Promise<JobRecord<Output>> {
    return (await this.request("GET", `api/v1/jobs/${encodeURIComponent(id)}`)) as JobRecord<Output>;
  }

  private async request(method: string, path: string, body?: string): Promise<unknown> {
    const headers: Record<string, string> = { accept: "application/json", ...this.options.headers };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (this.options.token !== undefined) headers["authorization"] = `Bearer ${this.options.token}`;
    const send = this.options.fetch ?? globalThis.fetch;
    const url = `${this.options.url.replace(/\/+$/, "")}/${path}`;
    const init: RequestInit = { method, headers };
    if (body !== undefined) init.body = body;
    const response = await send(url, init);
    const text = await response.text();
    if (!response.ok) {
      const problem = problemOf(text);
      const detail = problem.detail ?? problem.title ?? text;
      throw new RatchetError(response.status, problem.type ?? "error", detail, problem.path);
    }
    return decode(text);
  }
}

/** A connection or a transaction of `pg`. */
export interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: Array<Record<string, unknown>> }>;
}

/** Enqueues a job in the transaction of a `pg` client: the job exists when the transaction commits. */
export async function enqueueIn<Args, Output>(
  client: Queryable,
  job: JobType<Args, Output>,
  args: NoInfer<Args>,
  options: EnqueueOptions = {},
): Promise<string> {
  const { rows } = await client.query(
    "SELECT ratchet.enqueue(name => $1, payload => $2::jsonb, queue => $3, version => $4, idempotency_key => $5, business_key => $6) AS id",
    [
      job.name,
      encode(args),
      options.queue ?? job.queue,
      job.version,
      options.idempotencyKey ?? job.idempotencyKey?.(args) ?? null,
      job.businessKey?.(args) ?? null,
    ],
  );
  return String(rows[0]?.["id"]);
}

interface Problem {
  type?: string;
  title?: string;
  detail?: string;
  path?: string;
}

function problemOf(text: string): Problem {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return {};
  }
}

/** Writes JSON. Unlike `JSON.stringify`, writes a `bigint` as a number. */
export function encode(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => encode(item)).join(",")}]`;
  if (value !== null && typeof value === "object" && !("toJSON" in value)) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${encode(field)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Reads JSON. Whole numbers that a `number` cannot hold become a `bigint` where the runtime shows their digits. */
export function decode(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
      ? BigInt(context?.source ?? "0")
      : value,
  );
}
