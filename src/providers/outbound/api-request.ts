/** A call of a provider's API. */
export type ApiRequest = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query, without the API's base URL. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Idempotent: safe to repeat. */
  repeatable: boolean;
};
