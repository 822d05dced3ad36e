import { redirect } from "next/navigation";
import { cache } from "react";
import type { Person } from "../../domain/caller.ts";
import { type PageRequest, pageRequests } from "./page-request.ts";
import { signInPath } from "./same-site-path.ts";

/** What is being answered. @throws Error outside of a request, as while building */
export function currentRequest(): PageRequest {
  const request = pageRequests().getStore();
  if (!request) throw new Error("there is no request: pages are served by src/server.ts alone");
  // It has been understood.
  request.setErrorStatus(null);
  return request;
}

/** Who is signed in; without anybody, on to the sign-in page, and back from there. */
export const requireUser = cache(async (): Promise<Person> => {
  const request = currentRequest();
  return (await request.person()) ?? redirect(signInPath(request.path));
});
