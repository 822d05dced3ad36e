export type Request = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With the query, without the API's own URL before it. */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** Done twice, it has the effect of once. */
  repeatable: boolean;
};
