import { createTransport } from "nodemailer";
import type { EmailMessage } from "./email-message.ts";

export type Composed = { envelope: { from: string | false; to: string[] }; raw: Buffer };

const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });

/** The message as it is sent, RFC 5322. */
export async function compose(from: string, email: EmailMessage): Promise<Composed> {
  const { envelope, message: raw } = await composer.sendMail(message(from, email));
  return { envelope, raw: raw as Buffer };
}

/** The same for a file that people read: encoded, a long link would be folded and could not be copied. */
export async function composeReadable(from: string, email: EmailMessage): Promise<string> {
  const { raw } = await compose(from, email);
  const [headers = ""] = raw.toString().split("\r\n\r\n", 1);
  const unencoded = headers.replace(/^(Content-Transfer-Encoding:).*/im, "$1 8bit");
  return `${unencoded}\r\n\r\n${email.text.replaceAll(/\r?\n/g, "\r\n")}`;
}

/** The address as an object: a string would be parsed as a list. */
export function message(from: string, { to, subject, text }: EmailMessage) {
  return { from, to: { name: "", address: to }, subject, text };
}
