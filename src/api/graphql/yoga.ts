import { type ExecutionResult, type GraphQLError, getOperationAST } from "graphql";
import { createYoga, type GraphQLParams, type Plugin, processRegularResult } from "graphql-yoga";
import { exceeded } from "./bounds.ts";
import type { GraphqlContext } from "./builder.ts";
import { documentReader } from "./documents.ts";
import { schema } from "./schema.ts";
import { translated } from "./translate.ts";

/** A request of somebody who is known, read and paid for. */
export type Asked = GraphqlContext & {
  method: "GET" | "POST";
  /** The media type to answer in. */
  accept: string;
  params: GraphQLParams;
  /** Is given what was neither a refusal nor about the request. */
  note: (defect: unknown) => void;
};

/** GraphQL over HTTP, from the parsing of the document to the answer. */
export function createServer(options: { introspection: boolean }): (asked: Asked) => Promise<Response> {
  const yoga = createYoga<Asked>({
    schema,
    graphqlEndpoint: "/",
    plugins: [documents(options), answers(options)],
    // What the door in front does: it has looked at method, origin and body, and answers errors in our own words.
    cors: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    maskedErrors: false,
    logging: false,
    parserAndValidationCache: false,
  });
  // Behind yoga's own door, which would read again what has been read, and costs a quarter of a call.
  return async (asked) => {
    // All that is looked at behind it: GET must not mutate.
    const request = { method: asked.method } as Request;
    const result = await yoga.getResultForParams({ params: asked.params, request }, asked);
    return processRegularResult(result as ExecutionResult, yoga.fetchAPI, asked.accept);
  };
}

type AskedPlugin = Plugin<object, Asked>;

function documents(options: { introspection: boolean }): AskedPlugin {
  const reader = documentReader(schema, options);
  return {
    onParse: ({ setParseFn }) => setParseFn(reader.parse),
    onValidate: ({ setValidationFn }) => setValidationFn((_, document) => reader.validate(document)),
    onExecute: ({ args, setResultAndStopExecution }) => {
      const { document, operationName, variableValues } = args;
      const operation = getOperationAST(document, operationName);
      // Without one, the executor says so.
      if (!operation) return;
      const error = exceeded(schema, { document, operation, variables: variableValues ?? {} });
      if (error) setResultAndStopExecution({ errors: [error] });
    },
  };
}

/** Nothing leaves that has not been translated, wherever it was thrown. */
function answers({ introspection }: { introspection: boolean }): AskedPlugin {
  return {
    onExecutionResult: ({ result, setResult, context }) => {
      const { data, errors } = result as ExecutionResult;
      if (!errors) return;
      const told = errors.map((error) => translated(error, context.note));
      if (!introspection) told.forEach(withoutSuggestion);
      setResult(data === undefined ? { errors: told.map(refusing) } : { data, errors: told });
    },
  };
}

/** GraphQL's own errors name what is nearly what was asked for: with patience, the whole schema. */
function withoutSuggestion(error: GraphQLError): void {
  error.message = error.message.replace(/ Did you mean .*/s, "");
}

/** By the specification a request that was not run has an error's status; one that is wrong only if plain JSON was not asked for. */
function refusing(error: GraphQLError): GraphQLError {
  const isDefect = error.extensions.code === "INTERNAL_SERVER_ERROR";
  error.extensions.http ??= isDefect ? { status: 500 } : { spec: true, status: 400 };
  return error;
}
