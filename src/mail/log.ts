/** The log as mail needs it. The content of a mail is never logged. */
export type Log = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
