import { after } from "next/server";
import versions from "../../../../versions.config.ts";
import { notStarted } from "../../../http/not-started.ts";
import { host, isServerless } from "../../gate/host.ts";

/** The whole API where Next.js serves it. `src/server.ts` serves `/api` without Next.js. */
async function respond(request: Request): Promise<Response> {
  if (!isServerless) return Response.json({ error: "Not found" }, { status: 404 });
  const started = await host().catch((error: Error) => error);
  if (started instanceof Error) {
    const headers = { ...notStarted(started), "x-api-version": versions.current };
    return Response.json({ error: "Service unavailable" }, { status: 503, headers });
  }
  const { fetch, idle } = started;
  const response = await fetch(request);
  // Keeps the instance running until what was left to the background, such as a mail, is done.
  after(idle);
  return response;
}

export {
  respond as DELETE,
  respond as GET,
  respond as HEAD,
  respond as OPTIONS,
  respond as PATCH,
  respond as POST,
  respond as PUT,
};

export const dynamic = "force-dynamic";
