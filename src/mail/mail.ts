import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTransport } from "nodemailer";
import { compose, message } from "./compose.ts";
import type { EmailMessage } from "./email-message.ts";
import type { Log } from "./log.ts";

export type MailOptions = {
  /** `null`: mail is written to files below `dataDir`, for a person at this machine to open. */
  smtpUrl: string | null;
  /** e.g. `Tollgate <no-reply@example.com>` */
  from: string;
  dataDir: string;
  log: Log;
};

export type Mail = {
  /** Returns at once: nobody can tell from an answer's time whether a mail was sent. A failure is for the log. */
  send(letter: EmailMessage): void;
  /** Resolves when nothing is on its way any more. */
  idle(): Promise<void>;
  /** The same for five seconds at most, so that stopping a server does not hang on a mail server; then lets go of it. */
  close(): Promise<void>;
};

const CLOSE_WITHIN_MS = 5_000;

type Deliver = (letter: EmailMessage) => Promise<{ file?: string }>;

export function createMail({ smtpUrl, from, dataDir, log }: MailOptions): Mail {
  const { deliver, close } =
    smtpUrl === null ? toFiles(join(dataDir, "mail"), from) : toServer(smtpUrl, from);
  const onTheirWay = new Set<Promise<void>>();

  const sent = async (letter: EmailMessage) => {
    const { subject } = letter;
    try {
      log.info({ subject, ...(await deliver(letter)) }, smtpUrl === null ? "mail written" : "mail sent");
    } catch (error) {
      // Not its message: mail servers quote the recipient in theirs.
      const { code, responseCode, command } = error as {
        code?: string;
        responseCode?: number;
        command?: string;
      };
      log.error(
        { subject, code, responseCode, command },
        `a mail could not be sent: check ${smtpUrl === null ? "DATA_DIR" : "SMTP_URL"}`,
      );
    }
  };
  const idle = async () => {
    while (onTheirWay.size > 0) await Promise.all(onTheirWay);
  };

  return {
    send: (letter) => {
      const way = sent(letter).finally(() => onTheirWay.delete(way));
      onTheirWay.add(way);
    },
    idle,
    close: async () => {
      await Promise.race([idle(), sleep(CLOSE_WITHIN_MS, undefined, { ref: false })]);
      if (onTheirWay.size > 0) log.error({ unsent: onTheirWay.size }, "stopped before all mail was sent");
      close();
    },
  };
}

const TIMEOUT_MS = 10_000;

function toServer(url: string, from: string): { deliver: Deliver; close(): void } {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 2,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  return {
    deliver: async (letter) => {
      await transport.sendMail(message(from, letter));
      return {};
    },
    close: () => transport.close(),
  };
}

function toFiles(folder: string, from: string): { deliver: Deliver; close(): void } {
  return {
    deliver: async (letter) => {
      const { raw } = await compose(from, letter);
      const time = new Date().toISOString().replaceAll(":", "-");
      const file = join(folder, `${time}-${randomBytes(4).toString("hex")}.eml`);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // The link in it is as good as a password.
      await writeFile(file, raw, { mode: 0o600, flag: "wx" });
      return { file };
    },
    close: () => {},
  };
}
