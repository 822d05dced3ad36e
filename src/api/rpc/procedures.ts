import { initTRPC, type TRPCMutationProcedure, type TRPCQueryProcedure } from "@trpc/server";
import { z } from "zod";
import type { Permission } from "../../domain/callers/permission.ts";
import { Refusal } from "../../domain/refusals/refusal.ts";
import type { Call } from "../../operations/call.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { type AccessLevel, execute, type Operation } from "../../operations/operation.ts";
import { type RpcErrorShape, shapeOf } from "./errors.ts";
import { type InputReader, transformer, withoutDirection } from "./input.ts";

/** One HTTP request, which may be a batch of calls. */
export type RpcContext = {
  deps: Dependencies;
  call: Call;
  /** @throws Refusal `invalid_input` when the input in the query string is not to be parsed */
  inspectQuery(): void;
  /** One for each call that has started: settles when it has been charged, or has ended. */
  charging: Promise<void>[];
};

const trpc = initTRPC.context<RpcContext>().create({
  transformer,
  isDev: false,
  jsonl: { contentType: "application/x-ndjson" },
  errorFormatter: ({ error, path, type }) => shapeOf(error, type === "unknown" ? null : (path ?? null)),
});

export const { router } = trpc;

/**
 * Each level repeats the access of its operations: an operation offered at another level does not compile.
 */
export const publicProcedure = level("anyone");
export const protectedProcedure = level("person", "session");
export const adminProcedure = level("admin");

/** An input without required fields may be left out as a whole. */
type OptionalIfEmpty<Input> = Record<never, never> extends Input ? Input | undefined : Input;

/** How a service key names the user that it acts for. Written out, as the client package copies this type. */
type NamedUser = { user?: string | undefined; externalId?: string | undefined };

/** zod types an empty object as `Record<string, never>`, which nothing can be added to. */
type WithNamedUser<Input> = string extends keyof Input ? NamedUser : Input & NamedUser;

type ClientInput<Input, P> = P extends Permission ? WithNamedUser<Input> : Input;

/** As clients see it. Inferred from the operation and `show` alone: the router would have made it `any`. */
type ProcedureTypes<Input extends z.ZodType, P, Answer> = {
  input: OptionalIfEmpty<ClientInput<z.input<Input>, P>>;
  output: [Answer] extends [infer Shown] ? Shown : never;
  meta: object;
  errorShape: RpcErrorShape;
};

type Showing<Output, Shown, Missing> = {
  /** What clients see of the output: all of it unless given. */
  show?: (output: Output) => Shown;
  /** The answer when the operation refuses with `not_found`, instead of an error. */
  missing?: Missing;
};

function level<A extends AccessLevel>(...served: A[]) {
  function gated<Input extends z.ZodType, Output extends z.ZodType, Shown, Missing>(
    operation: Operation<Dependencies, Input, Output, A>,
    { show, missing }: Showing<z.input<Output>, Shown, Missing>,
  ): Resolve {
    if (!served.includes(operation.access)) {
      throw new Error(`${operation.name} is for "${operation.access}", not for "${served.join('" or "')}"`);
    }
    const isPaged = operation.input instanceof z.ZodObject && "cursor" in operation.input.shape;
    return async ({ deps, call }, readRawInput) => {
      const readInput = async () => {
        const input = ((await readRawInput()) as InputReader | undefined)?.();
        // Programs that write superjson's envelope by hand say "no input" with null.
        if (input === undefined || input === null) return {};
        return isPaged ? withoutDirection(input) : input;
      };
      try {
        const output = await execute(operation, deps, call, readInput);
        return show ? show(output) : output;
      } catch (error) {
        if (missing === undefined || !(error instanceof Refusal) || error.code !== "not_found") throw error;
        return missing;
      }
    };
  }

  return {
    query: <
      Input extends z.ZodType,
      Output extends z.ZodType,
      P extends Permission | undefined,
      Shown = z.input<Output>,
      Missing = never,
    >(
      operation: Operation<Dependencies, Input, Output, A, P>,
      showing: Showing<z.input<Output>, Shown, Missing> = {},
    ) => {
      const resolve = gated(operation, showing);
      const procedure = procedureOf(resolve).query(({ ctx }) => ctx.answer);
      resolvers.set(procedure, resolve);
      return procedure as TRPCQueryProcedure<ProcedureTypes<Input, P, Shown | Missing>>;
    },
    mutation: <
      Input extends z.ZodType,
      Output extends z.ZodType,
      P extends Permission | undefined,
      Shown = z.input<Output>,
    >(
      operation: Operation<Dependencies, Input, Output, A, P>,
      showing: Showing<z.input<Output>, Shown, never> = {},
    ) =>
      procedureOf(gated(operation, showing)).mutation(({ ctx }) => ctx.answer) as TRPCMutationProcedure<
        ProcedureTypes<Input, P, Shown>
      >,
  };
}

/**
 * Calls a procedure's operation.
 * @param readRawInput resolves to an `InputReader`, or to `undefined` without an input
 */
type Resolve = (context: Pick<RpcContext, "deps" | "call">, readRawInput: () => unknown) => Promise<unknown>;

const resolvers = new WeakMap<object, Resolve>();

/** Runs a query without tRPC, which would cost as much as the rest of the call. `undefined`: not a query. */
export function resolverOf(procedure: object): Resolve | undefined {
  return resolvers.get(procedure);
}

function procedureOf(resolve: Resolve) {
  return trpc.procedure.use(async ({ ctx, getRawInput, next }) => {
    const charged = Promise.withResolvers<void>();
    ctx.charging.push(charged.promise);
    const readRawInput = () => {
      charged.resolve();
      ctx.inspectQuery();
      return getRawInput();
    };
    try {
      return next({ ctx: { answer: await resolve(ctx, readRawInput) } });
    } finally {
      charged.resolve();
    }
  });
}
