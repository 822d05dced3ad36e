import { GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { builder } from "./builder.ts";
import "./queries.ts";
import "./mutations.ts";

/** A type called Subscription is what people have bought; to Pothos it is what clients may listen to, which is nothing. */
export const schema = new GraphQLSchema({ ...builder.toSchema().toConfig(), subscription: null });

/** What `schema.graphql` holds. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
