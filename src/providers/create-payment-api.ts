import { loadOnce } from "../domain/load-once.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { PaymentConnection } from "./payment-connection.ts";
import { providerOf } from "./registry.ts";

/** A provider's API, whose code and SDK are loaded by the first call. */
export function createPaymentApi(connection: PaymentConnection): PaymentApi {
  const { webhook, loadApi } = providerOf(connection.format);
  const api = loadOnce(async () => (await loadApi())(connection));
  return {
    traits: webhook.traits,
    createCheckout: async (order) => (await api()).createCheckout(order),
    closeCheckout: async (checkout) => (await api()).closeCheckout(checkout),
    openPortal: async (customer) => (await api()).openPortal(customer),
    fetchSubscription: async (id) => (await api()).fetchSubscription(id),
    cancelSubscription: async (id) => (await api()).cancelSubscription(id),
    listEvents: webhook.traits.listsEvents
      ? async function* (since) {
          const { listEvents } = await api();
          if (listEvents) yield* listEvents(since);
        }
      : null,
    isInTestMode: async () => (await (await api()).isInTestMode?.()) ?? false,
    isEndpointDisabled: webhook.traits.losesEventsWhileDisabled
      ? async () => (await (await api()).isEndpointDisabled?.()) ?? false
      : null,
    updateCheckout: async (id, order) => (await api()).updateCheckout(id, order),
    changeSubscription: async (id, change) => (await api()).changeSubscription(id, change),
    fetchScheduledChange: async (id, priceId) => (await api()).fetchScheduledChange(id, priceId),
    previewChange: async (id, change) => (await api()).previewChange(id, change),
    refundSubscription: async (id) => (await api()).refundSubscription(id),
    listSubscriptionPage: async (position, options) => (await api()).listSubscriptionPage(position, options),
    listCustomerPage: webhook.traits.listsCustomers
      ? async (position) =>
          (await (await api()).listCustomerPage?.(position)) ?? { customers: [], next: null }
      : null,
    findSubscriptions: async (customer) => (await api()).findSubscriptions(customer),
    listPayments: async function* (selection) {
      yield* (await api()).listPayments(selection);
    },
    fetchPayment: async (id) => (await api()).fetchPayment(id),
    knowsPrice: async (id) => (await api()).knowsPrice(id),
  };
}
