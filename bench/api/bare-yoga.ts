import { createServer } from "node:http";
import { GraphQLScalarType } from "graphql";
import { createSchema, createYoga } from "graphql-yoga";
import { NOTIFICATION_KINDS } from "../../src/domain/notifications/notification.ts";
import { pageOfNotifications } from "./bare-page.ts";

type Context = { request: Request };

/** Yoga as its documentation sets it up, without a gate: it believes the header that says who is asking. */
const schema = createSchema<Context>({
  typeDefs: `
    scalar DateTime
    scalar JSON
    enum NotificationKind { ${NOTIFICATION_KINDS.map((kind) => kind.toUpperCase()).join(" ")} }
    type Notification {
      id: ID!
      kind: NotificationKind!
      details: JSON!
      createdAt: DateTime!
      readAt: DateTime
    }
    type NotificationPage { items: [Notification!]! nextCursor: String }
    type Query { notifications(limit: Int! = 20, cursor: String): NotificationPage }
  `,
  resolvers: {
    DateTime: new GraphQLScalarType({ name: "DateTime", serialize: (date) => (date as Date).toISOString() }),
    NotificationKind: Object.fromEntries(NOTIFICATION_KINDS.map((kind) => [kind.toUpperCase(), kind])),
    Query: {
      notifications: (_, { limit, cursor = null }: { limit: number; cursor?: string | null }, { request }) =>
        pageOfNotifications(request.headers.get("x-user-id") ?? "", { limit, cursor }),
    },
  },
});

const yoga = createYoga({ schema, graphqlEndpoint: "/api/graphql", healthCheckEndpoint: "/api/ready" });

createServer(yoga).listen(Number(process.env.PORT), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
