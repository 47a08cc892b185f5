// Every line that is marked must be refused by the compiler.
import { Client, sendEmail, shapes, shopClean, type Kind } from "./jobs";

const client = new Client({ url: "https://jobs.example.com" });
void client.enqueue(sendEmail, { to: "a", subject: "b", urgent: true });
void client.enqueue(sendEmail, { to: 1, subject: "b", urgent: true }); // wrong: a number
void client.enqueue(sendEmail, { to: "a", urgent: true }); // wrong: missing
void client.enqueue(sendEmail, { to: "a", subject: "b", urgent: true, copy: 1 }); // wrong: unknown
void client.enqueue(shopClean, { to: "a" }); // wrong: takes nothing
export const small: Kind = "Small";
export const tiny: Kind = "Tiny"; // wrong: no variant
export const custom: Kind = { Custom: "x" }; // wrong: content
export const named: Kind = { Named: { height: 1 } }; // wrong: missing field
void shapes;
