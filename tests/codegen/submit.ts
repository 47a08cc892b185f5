// Submits a job in a transaction of `pg`, and prints its id.
import { Client as Pg } from "pg";
import { enqueueIn, sendEmail } from "./jobs";

async function main(): Promise<void> {
  const pg = new Pg();
  await pg.connect();
  await pg.query("BEGIN");
  const id = await enqueueIn(pg, sendEmail, { to: "ada@example.com", subject: "hello", urgent: true });
  await pg.query("COMMIT");
  await pg.end();
  console.log(id);
}

void main();
