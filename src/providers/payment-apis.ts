import type { PaymentApi } from "../domain/payment-api.ts";
import type { WireFormat } from "./adapter.ts";
import type { PaymentConnection } from "./outbound/payment-connection.ts";

/** Nothing of a provider's code, its SDK least of all, is loaded before the first call. */
export function createPaymentApi(connection: PaymentConnection): PaymentApi {
  let loading: Promise<Required<PaymentApi>> | null = null;
  const api = () => {
    loading ??= load(connection);
    return loading;
  };
  return {
    createCheckout: async (order) => (await api()).createCheckout(order),
    closeCheckout: async (id) => (await api()).closeCheckout(id),
    openPortal: async (customer) => (await api()).openPortal(customer),
    fetchSubscription: async (id) => (await api()).fetchSubscription(id),
    cancelSubscription: async (id) => (await api()).cancelSubscription(id),
    listEvents: KEEPS_EVENTS[connection.format]
      ? async function* (since) {
          const { listEvents } = await api();
          if (listEvents) yield* listEvents(since);
        }
      : null,
    knowsPrice: async (id) => (await api()).knowsPrice(id),
  };
}

const KEEPS_EVENTS: Record<WireFormat, boolean> = {
  stripe: true,
  paddle: true,
  polar: true,
  "lemon-squeezy": false,
};

async function load(connection: PaymentConnection): Promise<Required<PaymentApi>> {
  const { format } = connection;
  switch (format) {
    case "stripe":
      return (await import("./outbound/stripe.ts")).stripeApi(connection);
    case "paddle":
      return (await import("./outbound/paddle.ts")).paddleApi(connection);
    case "polar":
      return (await import("./outbound/polar.ts")).polarApi(connection);
    case "lemon-squeezy":
      return (await import("./outbound/lemon-squeezy.ts")).lemonSqueezyApi(connection);
    default:
      return format satisfies never;
  }
}
