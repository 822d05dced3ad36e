import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  TRPCClientError,
  type TRPCLink,
} from "@trpc/client";
import superjson from "superjson";
import type { AppRouter } from "../../../src/api/rpc/app-router.ts";

/** The official client's ways to send a call. */
export const LINKS = { httpLink, httpBatchLink, httpBatchStreamLink } as const;

export type LinkName = keyof typeof LINKS;

export type RpcClientOptions = {
  link?: LinkName;
  cookie?: string;
  key?: string;
  /** Where `/trpc` is, `/api` unless given. */
  base?: string;
  /** Go in front of the one that sends. */
  links?: TRPCLink<AppRouter>[];
  /** Hears of every answer. */
  onAnswer?: (answer: Response) => void;
  /** Sends queries by POST, as long ones must be. */
  methodOverride?: "POST";
  /** Of a batch; unlimited unless given. */
  maxItems?: number;
};

/** The official client, with the types of our router, as an application uses it. */
export function rpcClient(serverUrl: string, options: RpcClientOptions = {}) {
  return createTRPCClient<AppRouter>({
    links: [...(options.links ?? []), sendingLink(serverUrl, options)],
  });
}

/** The last link of a chain. */
export function sendingLink(serverUrl: string, options: RpcClientOptions = {}): TRPCLink<AppRouter> {
  const { link = "httpBatchLink", cookie, key, base = "/api", onAnswer, methodOverride, maxItems } = options;
  return LINKS[link]<AppRouter>({
    url: `${serverUrl}${base}/trpc`,
    transformer: superjson,
    ...(methodOverride === undefined ? {} : { methodOverride }),
    ...(maxItems === undefined ? {} : { maxItems }),
    headers: {
      ...(cookie === undefined ? {} : { cookie }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    fetch: async (url, init) => {
      const response = await fetch(url, init as RequestInit);
      onAnswer?.(response);
      return response;
    },
  });
}

/** The code and message of a refused call, as an application reads them. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<[code: string | undefined, message: string]> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof TRPCClientError)) throw error;
    return [error.data?.code, error.message];
  }
  throw new Error("the call was not refused");
}
