import { type HttpResponse, type RequestOptions, sendRequest } from "../../support/http.ts";

type Question = Omit<RequestOptions, "body"> & {
  variables?: Record<string, unknown>;
  operationName?: string;
};

/** One operation by POST, as clients send it. */
export function queryGraphql(
  serverUrl: string,
  query: string,
  { variables, operationName, ...request }: Question = {},
): Promise<HttpResponse> {
  return sendRequest(serverUrl, "POST", "/api/graphql", {
    ...request,
    body: { query, variables, operationName },
  });
}

/** The codes of a response's errors, with the fields that they concern. */
export function refusals({ body }: Pick<HttpResponse, "body">): Record<string, string> {
  return Object.fromEntries(
    (body.errors ?? []).map((error: { path?: string[]; extensions: { code: string } }) => [
      error.path?.join(".") ?? "",
      error.extensions.code,
    ]),
  );
}
