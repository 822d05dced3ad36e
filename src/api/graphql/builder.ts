import SchemaBuilder from "@pothos/core";
import DataloaderPlugin from "@pothos/plugin-dataloader";
import { GraphQLError } from "graphql";
import type { z } from "zod";
import { isoText } from "../../domain/iso-text.ts";
import type { Call } from "../../operations/call.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import { execute, type Operation } from "../../operations/operation.ts";

/** Per-request context of every resolver. */
export type GraphqlContext = { deps: Dependencies; call: Call };

export const builder = new SchemaBuilder<{
  Context: GraphqlContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: string; Output: Date };
    JSON: { Input: never; Output: unknown };
  };
}>({ plugins: [DataloaderPlugin], defaultFieldNullability: false });

/** Of a service key; the gate takes it out of the input. */
export type NamedUser = { user?: string | undefined; externalId?: string | undefined };

/** A call through the gate, as each field of the schema is. @throws Refusal, or any error of the operation */
export function callOperation<Input extends z.ZodType, Output extends z.ZodType>(
  operation: Operation<Dependencies, Input, Output>,
  { deps, call }: GraphqlContext,
  input: z.input<NoInfer<Input>> | NamedUser,
): Promise<z.input<Output>> {
  return execute(operation, deps, call, () => input);
}

export type WithoutNulls<Value> = Value extends object
  ? { [Name in keyof Value]: WithoutNulls<Exclude<Value[Name], null>> }
  : Value;

/** Drops null arguments, nested ones too: in GraphQL null means "not provided". */
export function withoutNulls<Args extends object>(args: Args): WithoutNulls<Args> {
  const present = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    present.map(([name, value]) => [name, typeof value === "object" ? withoutNulls(value) : value]),
  ) as WithoutNulls<Args>;
}

builder.scalarType("DateTime", {
  description: "An ISO 8601 time, such as 2030-01-31T00:00:00.000Z.",
  serialize: isoText,
  // Parsed by the operation, which has its own message for an invalid time.
  parseValue: (value) =>
    typeof value === "string" ? value : expected("a time such as 2030-01-31T00:00:00Z"),
});

builder.scalarType("JSON", {
  description: "Any JSON value.",
  serialize: (value) => value,
  parseValue: () => expected("nothing: JSON is only ever shown"),
});

function expected(expectation: string): never {
  throw new GraphQLError(`expected ${expectation}`);
}
