import { GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { builder } from "./builder.ts";
import "./queries.ts";
import "./mutations.ts";

/** A type called Subscription is what people have bought; to Pothos it is what clients may listen to, which is nothing. */
export const schema = new GraphQLSchema({ ...builder.toSchema().toConfig(), subscription: null });

/** Said because of that type as well: whoever reads the file would take it for a root. */
const ROOTS = "schema {\n  query: Query\n  mutation: Mutation\n}";

/** What `schema.graphql` holds. */
export function printedSchema(): string {
  return `${ROOTS}\n\n${printSchema(lexicographicSortSchema(schema))}\n`;
}
