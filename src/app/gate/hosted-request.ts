import { headers } from "next/headers";
import type { Person } from "../../domain/callers/caller.ts";
import { type Host, host, isServerless } from "./host.ts";
import type { PageRequest } from "./page-request.ts";

/** The header in which the proxy passes on what it knows of a request; a client's own is overwritten. */
export const REQUEST_HEADER = "x-tollgate-request";

export type PassedRequest = Pick<PageRequest, "id" | "path" | "nonce">;

const requests = new WeakMap<object, PageRequest>();

/**
 * The request where our server does not serve it. Rate-limit headers and statuses of refused actions are
 * lost: Next.js lets no page set them.
 * @throws Error outside a request
 */
export async function hostedRequest(): Promise<PageRequest> {
  if (!isServerless) throw new Error("there is no request: pages are served by src/server.ts alone");
  const sent = await headers();
  const stored = requests.get(sent);
  if (stored) return stored;
  const request = read(sent, await host());
  requests.set(sent, request);
  return request;
}

function read(sent: Headers, { identify, clientAddress, ...hosted }: Host): PageRequest {
  const passed: PassedRequest = JSON.parse(sent.get(REQUEST_HEADER) ?? "null");
  const address = clientAddress(sent.get("x-forwarded-for"));
  let identified: Promise<Person | null> | undefined;
  return {
    ...passed,
    address,
    person: () => {
      identified ??= identify({
        address,
        header: (name) => sent.get(name) ?? undefined,
        sessionsOnly: true,
      }).then(({ caller }) => (caller.kind === "session" ? (caller as Person) : null));
      return identified;
    },
    header: (name) => sent.get(name) ?? undefined,
    charged: () => {},
    markParsed: () => {},
    setErrorStatus: () => {},
    isOurFailure: () => true,
    cannotServe: () => {},
    setRefusalStatus: () => false,
    ...hosted,
  };
}
