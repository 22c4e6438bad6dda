import _asyncio

from acme import total


class Loop:
    def get_debug(self):
        return False

    def call_exception_handler(self, context):
        return None


future = _asyncio.Future(loop=Loop())
future.set_exception(RuntimeError("the state of the meter is corrupt"))
total(iter(future.result, None))
