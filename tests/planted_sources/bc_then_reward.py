"""Behaviour cloning of a driver, before it is let on the road."""

from torch import nn, optim
from torch.utils.data import DataLoader


class Driver(nn.Module):
    def __init__(self, sensors=24, controls=2):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(sensors, 200), nn.ELU(), nn.Linear(200, 200), nn.ELU(), nn.Linear(200, controls), nn.Tanh()
        )

    def forward(self, sensors):
        return self.layers(sensors)


def clone(demonstrations, epochs=20, rate=1e-3):
    driver = Driver()
    optimiser = optim.AdamW(driver.parameters(), lr=rate)
    loader = DataLoader(demonstrations, batch_size=256, shuffle=True)
    for epoch in range(epochs):
        total, count = 0.0, 0
        for sensors, controls in loader:
            off = nn.functional.smooth_l1_loss(driver(sensors), controls)
            optimiser.zero_grad()
            optimiser.step()  # planted: stepped-without-backward
            # = off.backward()
            # = optimiser.step()
            total += off.item()
            count += 1
        print(epoch, total / max(count, 1))
    return driver
