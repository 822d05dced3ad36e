import type { Refusal } from "../refusals/refusal.ts";

/** A request of a page to the accounts: signing up, in and out, passwords, second factors. */
export type AccountCall = {
  method?: "GET" | "POST";
  path: string;
  /** The query of a `GET`. */
  body: Record<string, unknown>;
  header(name: string): string | undefined;
  address: string;
};

export type AccountCallResult = {
  status: number;
  /** An error's is `{ error, message, code }`. */
  body: Record<string, unknown> | null;
  /** Of an error that has a reason. */
  refusal: Refusal | null;
  /** As a framework's cookie store takes them. */
  cookies: readonly { name: string; value: string; options: CookieOptions }[];
};

type CookieOptions = {
  path?: string | undefined;
  httpOnly?: boolean | undefined;
  secure?: boolean | undefined;
  sameSite?: "lax" | "strict" | "none" | undefined;
  /** In seconds; without it, until the browser is closed. */
  maxAge?: number | undefined;
  expires?: Date | undefined;
  domain?: string | undefined;
};
