// Submits the job over HTTP, and reads it.
// Then submits a wrong argument past the compiler, which the API must refuse.
import { Client, RatchetError, sendEmail } from "./jobs";

async function main(): Promise<void> {
  const client = new Client({ url: process.env["RATCHET_URL"] ?? "", token: process.env["RATCHET_TOKEN"] ?? "" });
  const id = await client.enqueue(sendEmail, { to: "ada@example.com", subject: "hello", urgent: true });
  console.log(id);
  const job = await client.job(sendEmail, id);
  console.log(job.spec.name, job.state);
  try {
    await client.enqueue(sendEmail, { to: 7 as unknown as string, subject: "wrong", urgent: true });
    console.log("accepted");
  } catch (error) {
    if (!(error instanceof RatchetError)) throw error;
    console.log(error.status, error.path, error.message);
  }
}

void main();
