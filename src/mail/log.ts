/** What this room needs of the log. What a mail says is never handed to it. */
export type Log = Record<"info" | "warn" | "error", (fields: object, message: string) => void>;
