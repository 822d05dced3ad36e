import { Readable } from "node:stream";
import { parseConnectionUrl } from "nodemailer/lib/shared";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Composed } from "./compose.ts";
import { type SmtpErrorDetails, smtpErrorDetails } from "./smtp-error.ts";

/**
 * What has become of one mail. `refused`: not taken, and never will be. `later`: not taken now. `unsent`: something that
 * concerns all mail stood in the way. `unknown`: the connection broke off when the mail may have been taken already.
 */
type SendResult =
  | { outcome: "taken" }
  | { outcome: "refused" | "later" | "unsent" | "unknown"; trouble: SmtpErrorDetails };

export type SmtpSession = {
  /** Never throws. After anything but `taken` the session is of no use any more. */
  send(mail: Composed): Promise<SendResult>;
  close(): void;
};

const SOCKET_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 15_000;
const SEND_TIMEOUT_MS = 20_000;

/**
 * A connection to the mail server, which has let us in. A pool, as nodemailer has one, does not tell how far a mail had
 * come when its connection broke, and sends it again on another one.
 */
export async function openSmtpSession(smtpUrl: string): Promise<SmtpSession | { trouble: SmtpErrorDetails }> {
  const options = parseConnectionUrl(smtpUrl);
  const connection = new SMTPConnection({
    ...options,
    connectionTimeout: SOCKET_TIMEOUT_MS,
    greetingTimeout: SOCKET_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
  });
  // Said also of connections that nobody waits for any more.
  connection.on("error", () => {});
  try {
    await withTimeout(CONNECT_TIMEOUT_MS, connection, (done) =>
      connection.connect((error) => {
        if (error || !options.auth || !connection.allowsAuth) done(error);
        else connection.login(options.auth, done);
      }),
    );
  } catch (error) {
    connection.close();
    return { trouble: smtpErrorDetails(error) };
  }
  return { send: (mail) => sendMail(connection, mail), close: () => connection.quit() };
}

async function sendMail(connection: SMTPConnection, { envelope, raw }: Composed): Promise<SendResult> {
  // Read by nodemailer when the server has asked for the mail itself, and not before.
  let isUnderWay = false;
  const content = new Readable({
    read() {
      isUnderWay = true;
      this.push(raw);
      this.push(null);
    },
  });
  try {
    await withTimeout(SEND_TIMEOUT_MS, connection, (done) => connection.send(envelope, content, done));
    return { outcome: "taken" };
  } catch (error) {
    connection.close();
    const trouble = smtpErrorDetails(error);
    return { outcome: outcomeOf(trouble, isUnderWay), trouble };
  }
}

function outcomeOf(
  { responseCode, code, command = "" }: SmtpErrorDetails,
  isUnderWay: boolean,
): Exclude<SendResult["outcome"], "taken"> {
  // What nodemailer itself takes for no address.
  if (code === "EENVELOPE" && command === "API") return "refused";
  if (responseCode === undefined) return isUnderWay ? "unknown" : "unsent";
  // RFC 5321, section 3.8: with 421 the server takes its leave, whatever it was asked.
  if (responseCode === 421 || !/^(RCPT|DATA)/.test(command)) return "unsent";
  return responseCode >= 500 ? "refused" : "later";
}

/** Rejects as soon as the connection is no good any more, too. */
function withTimeout(
  ms: number,
  connection: SMTPConnection,
  act: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => done(new Error("the mail server takes too long")), ms);
    const done = (error?: Error | null) => {
      clearTimeout(timer);
      connection.off("error", done);
      if (error) reject(error);
      else resolve();
    };
    connection.on("error", done);
    act(done);
  });
}
