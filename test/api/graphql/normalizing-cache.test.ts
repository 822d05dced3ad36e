import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { isObjectType } from "graphql";
import { expect, it } from "vitest";
import plans from "../../../plans.config.ts";
import { schema } from "../../../src/api/graphql/schema.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { createServiceKey } from "../../support/service-keys.ts";

const { test, server } = freshServer();

/** All fields of a type but deprecated ones. */
function all(name: string): string {
  const type = schema.getType(name);
  const fields = isObjectType(type) ? Object.values(type.getFields()) : [];
  return fields.flatMap((field) => (field.deprecationReason ? [] : field.name)).join(" ");
}

/** With its default cache, by type and `id`. */
const apolloClient = (headers: Record<string, string> = {}) =>
  new ApolloClient({
    cache: new InMemoryCache(),
    link: new HttpLink({ uri: `${server.url}/api/graphql`, headers }),
  });

it("keeps apart the features of several plans", async () => {
  const query = gql(`{ plans { items { id featureDetails { ${all("FeatureDetails")} } } } }`);
  const { data } = await apolloClient().query<PlanList>({ query });
  const values = (featureDetails: { value: unknown }[]) => featureDetails.map(({ value }) => value);
  expect(data?.plans.items.map((plan) => [plan.id, values(plan.featureDetails)])).toEqual(
    plans.plans.map((plan) => [plan.id, values(plan.features)]),
  );
});

it("keeps apart what several users have used of a feature", async () => {
  const { key } = await createServiceKey(test);
  const headers = { authorization: `Bearer ${key}` };
  const amounts = { ana: 3, ben: 5 };
  for (const [externalId, amount] of Object.entries(amounts)) {
    const body = { email: `${externalId}@example.com`, name: externalId };
    await sendRequest(server.url, "PUT", `/api/users/external/${externalId}`, { headers, body });
    const usage = { externalId, feature: "events", amount, idempotencyKey: externalId };
    await sendRequest(server.url, "POST", "/api/usage", { headers, body: usage });
  }
  const query = gql(`query ($externalId: String) {
    entitlements(externalId: $externalId) { features { ${all("FeatureEntitlement")} } }
  }`);
  const client = apolloClient(headers);
  for (const [externalId, amount] of [...Object.entries(amounts), ...Object.entries(amounts)]) {
    const { data } = await client.query<Used>({ query, variables: { externalId } });
    const quota = data?.entitlements.features.find(({ kind }) => kind === "QUOTA");
    expect([externalId, quota?.used]).toEqual([externalId, amount]);
  }
});

type PlanList = { plans: { items: { id: string; featureDetails: { value: unknown }[] }[] } };
type Used = { entitlements: { features: { kind: string; used: number | null }[] } };
