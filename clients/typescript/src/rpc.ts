import { createTRPCUntypedClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import superjson from "superjson";
import type { AppRouter } from "./app-router.ts";
import { fetchInTime } from "./fetch-in-time.ts";
import type { Connection } from "./options.ts";
import { readJson } from "./read-json.ts";
import { noResponse, responseError } from "./response-error.ts";
import { readRetryAfter, retryDelayMs } from "./retry-delay.ts";
import { sleep } from "./sleep.ts";
import { TollgateError } from "./tollgate-error.ts";

export type CallOptions = { signal?: AbortSignal };

type AnyProcedure = { _def: { type: string; $types: { input: unknown; output: unknown } } };
type Input<Procedure extends AnyProcedure> = Procedure["_def"]["$types"]["input"];
type Output<Procedure extends AnyProcedure> = Procedure["_def"]["$types"]["output"];

type Call<Procedure extends AnyProcedure> = (
  ...args: undefined extends Input<Procedure>
    ? [input?: Input<Procedure>, options?: CallOptions]
    : [input: Input<Procedure>, options?: CallOptions]
) => Promise<Output<Procedure>>;

type Callable<Procedure extends AnyProcedure> = Procedure["_def"]["type"] extends "query"
  ? { query: Call<Procedure> }
  : { mutate: Call<Procedure> };

/** `rpc.user.me.query()`, `rpc.user.updateProfile.mutate({ name })` ... */
export type RpcClient<Router extends { _def: { record: object } } = AppRouter> = {
  [Noun in keyof Router["_def"]["record"]]: {
    [Verb in keyof Router["_def"]["record"][Noun]]: Router["_def"]["record"][Noun][Verb] extends AnyProcedure
      ? Callable<Router["_def"]["record"][Noun][Verb]>
      : never;
  };
};

/** The server refuses larger batches, and those beyond a lower rate limit. */
const MAX_BATCH = 10;
/** Queries that are made together share one address, which proxies may limit to 8 KB. */
const MAX_URL_LENGTH = 6000;

/**
 * Calls of the same moment are sent in one request. A query is sent again when no response arrived, a
 * mutation only when the server refused it for being over a limit.
 */
export function createRpc(connection: Connection): RpcClient {
  let batches = { max: MAX_BATCH, client: batchingClient(connection, MAX_BATCH) };

  /** A batch that the server refuses as too large, before running any call, is split; later ones keep that size. */
  async function send(path: string, type: string, input: unknown, { signal }: CallOptions) {
    const options = signal === undefined ? {} : { signal };
    for (;;) {
      const { max, client } = batches;
      try {
        return await (type === "query"
          ? client.query(path, input, options)
          : client.mutation(path, input, options));
      } catch (cause) {
        const error = rpcError(cause);
        const accepted = maxAccepted(error);
        if (accepted === null || accepted >= max || signal?.aborted) throw error;
        if (accepted < batches.max) batches = { max: accepted, client: batchingClient(connection, accepted) };
      }
    }
  }

  async function call(path: string, type: string, input: unknown, options: CallOptions = {}) {
    const { signal } = options;
    const isRepeatable = type === "query";
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      try {
        return await untilAborted(send(path, type, input, options), signal);
      } catch (cause) {
        signal?.throwIfAborted();
        const error = rpcError(cause);
        const { status, retryAfterSeconds } = error;
        const delayMs = retryDelayMs({ attempt, status, retryAfterSeconds, isRepeatable }, connection);
        if (delayMs === null) throw error;
        await sleep(delayMs, signal);
      }
    }
  }

  return member([], call) as RpcClient;
}

function batchingClient(connection: Connection, maxItems: number) {
  const { baseUrl, headers } = connection;
  return createTRPCUntypedClient<AppRouter>({
    links: [
      httpBatchLink<AppRouter>({
        url: `${baseUrl}/api/trpc`,
        transformer: superjson,
        maxItems,
        maxURLLength: MAX_URL_LENGTH,
        headers,
        fetch: async (url, init) => {
          const response = await fetchInTime(connection, url, init as RequestInit).catch((cause) => {
            throw noResponse(connection, cause);
          });
          if (response.ok && response.headers.get("content-type")?.includes("json")) return response;
          // Only for their errors: tRPC's own do not have the status of what answers in the server's place, nor the
          // words of a refusal that no procedure has made.
          const body = await readJson<{ error?: unknown }>(response.clone());
          if (typeof body?.error === "string") throw await responseError(response);
          return response;
        },
      }),
    ],
  });
}

/** How many calls the server takes at once, where it has refused more; otherwise `null`. */
function maxAccepted({ reason, params: { max } }: TollgateError): number | null {
  return reason === "batch_too_large" && typeof max === "number" && max >= 1 ? max : null;
}

/** tRPC aborts a request only when all of its calls are aborted. */
function untilAborted(answer: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    answer.then(resolve, reject).finally(() => signal?.removeEventListener("abort", abort));
  });
}

/** A path of names, which is called by its last one: `query` or `mutate`. */
function member(
  path: readonly string[],
  call: (path: string, type: string, input: unknown, options?: CallOptions) => Promise<unknown>,
): unknown {
  return new Proxy(() => {}, {
    get: (_target, name) =>
      // Awaited or printed, it must not look like something else.
      typeof name === "symbol" || name === "then" || name === "toJSON"
        ? undefined
        : member([...path, name], call),
    apply: (_target, _this, [input, options]) =>
      call(path.slice(0, -1).join("."), path.at(-1) ?? "", input, options),
  });
}

function rpcError(cause: unknown): TollgateError {
  if (cause instanceof TollgateError) return cause;
  if (!(cause instanceof TRPCClientError))
    return new TollgateError(String(cause), { status: null, reason: "network", cause });
  if (cause.cause instanceof TollgateError) return cause.cause;
  const { data, meta, message } = cause as TRPCClientError<AppRouter>;
  const response = meta?.response as Response | undefined;
  return new TollgateError(message, {
    status: data?.httpStatus ?? response?.status ?? null,
    reason: data?.reason ?? (response === undefined ? "network" : `status_${response.status}`),
    params: data?.params ?? {},
    retryAfterSeconds: response === undefined ? null : readRetryAfter(response.headers),
    requestId: response?.headers.get("x-request-id") ?? null,
    cause,
  });
}
