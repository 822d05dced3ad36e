import { createTransport } from "nodemailer";
import type { EmailMessage } from "./email-message.ts";

export type Composed = { envelope: { from: string | false; to: string[] }; raw: Buffer };

const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });

/** The mail as it travels, RFC 5322. */
export async function compose(from: string, letter: EmailMessage): Promise<Composed> {
  const { envelope, message: raw } = await composer.sendMail(message(from, letter));
  return { envelope, raw: raw as Buffer };
}

/** As an object the address is one address; a text would be read as a list. */
export function message(from: string, { to, subject, text }: EmailMessage) {
  return { from, to: { name: "", address: to }, subject, text };
}
