import { currentRequest } from "./request.ts";

/** Reads from `/api/auth` for a page, exempt from limits as every read of a page is. @throws Error when it fails */
export async function readAccount<Body>(path: "/get-session" | "/list-sessions"): Promise<Body> {
  const { accounts, address, header } = currentRequest();
  const { status, body } = await accounts.call({ method: "GET", path, body: {}, header, address });
  if (status >= 400) throw new Error(`${path} answered ${status}`);
  return body as Body;
}
